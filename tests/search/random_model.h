#pragma once

#include <string>
#include <vector>

#include "data/vocabulary.h"
#include "model/translation_model.h"

namespace verso::test {

/// A small network with parameters from U(-1, 1), so that translations differ between sentences,
/// and an end symbol that is likely enough to end most of them.
inline Seq2Seq random_network(int64_t source_vocab, int64_t target_vocab, uint64_t seed,
                              DecoderKind kind = DecoderKind::kConditional,
                              bool attend_end = true) {
  ModelConfig config;
  config.embed = 6;
  config.hidden = 7;
  config.attention = 5;
  config.decoder.kind = kind;
  config.attend_end = attend_end;
  config.tie = Tie::kNone;
  Seq2Seq network(ModelSpec{config, source_vocab, target_vocab});
  Random random(seed);
  const torch::NoGradGuard no_gradients;
  for (Tensor& parameter : network->parameters()) {
    auto* value = parameter.data_ptr<float>();
    for (int64_t i = 0; i < parameter.numel(); ++i) {
      value[i] = static_cast<float>(2 * random.uniform() - 1);
    }
  }
  network->named_parameters()["output_bias"][kEndId] += 4;
  network->eval();
  return network;
}

inline std::shared_ptr<const Vocabulary> word_vocabulary(const std::string& text) {
  VocabularyConfig config;
  config.kind = VocabularyKind::kWord;
  bool given = false;
  return train_vocabulary(config, 1000, [&](std::string& line) {
    line = text;
    return !std::exchange(given, true);
  });
}

/// The words a … h on both sides, capitals on the target side.
inline TranslationModel random_model(uint64_t seed, DecoderKind kind = DecoderKind::kConditional) {
  TranslationModel model;
  model.vocabularies = {word_vocabulary("a b c d e f g h"), word_vocabulary("A B C D E F G H")};
  model.network = random_network(model.vocabularies.source->size(),
                                 model.vocabularies.target->size(), seed, kind);
  return model;
}

/// `count` sentences of 1 to `longest` ids.
inline std::vector<std::vector<std::int32_t>> random_sentences(std::size_t count,
                                                               std::uint64_t longest, int64_t vocab,
                                                               uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<std::int32_t>> sentences(count);
  for (auto& sentence : sentences) {
    sentence.resize(1 + random.below(longest));
    for (auto& id : sentence) {
      id = kSpecialIds +
           static_cast<std::int32_t>(random.below(static_cast<uint64_t>(vocab - kSpecialIds)));
    }
  }
  return sentences;
}

}  // namespace verso::test
