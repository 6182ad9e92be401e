#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "nn/runtime.h"

namespace verso::test {

/// Tests here fork, and OpenMP's threads do not come along into a child: one that waited for them
/// would wait for ever. With one thread there are none.
inline const int64_t kThreads = set_threads(1);

/// A folder that is gone after the test.
class Folder {
 public:
  Folder() {
    static int counter = 0;
    path_ = std::filesystem::temp_directory_path() /
            cat("verso_checkpoint_", ::getpid(), "_", counter++);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// Message of the CheckpointError that `action` throws; "" when it throws none.
inline std::string checkpoint_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const CheckpointError& problem) {
    return problem.what();
  }
  return {};
}

inline std::shared_ptr<const Vocabulary> make_vocabulary(VocabularyConfig config,
                                                         const std::string& text) {
  int given = 0;
  return train_vocabulary(config, config.source_size, [&](std::string& line) {
    line = text;
    return given++ < 20;
  });
}

/// A tiny model with vocabularies of config.vocabulary's kind; of one vocabulary when joint.
inline TranslationModel tiny_model(Config config = {}) {
  config.output = "run";
  config.data.train = {{"corpus/train.de", "corpus/train.en", "", 1.0}};
  config.model.embed = 4;
  config.model.hidden = 5;
  config.model.attention = 3;
  config.vocabulary.source_size = config.vocabulary.target_size = 30;
  TranslationModel model;
  model.config = config;
  model.vocabularies.source = make_vocabulary(config.vocabulary, "a b c d e ab cd");
  model.vocabularies.target = config.vocabulary.joint
                                  ? model.vocabularies.source
                                  : make_vocabulary(config.vocabulary, "A B C D E F AB DE");
  model.network = Seq2Seq(model_spec(config, model.vocabularies));
  return model;
}

/// tiny_model() with words as vocabulary: quick to make, readable.
inline TranslationModel word_model() {
  Config config;
  config.vocabulary.kind = VocabularyKind::kWord;
  return tiny_model(config);
}

inline TrainingState some_state() {
  TrainingState state;
  state.values = {{"optimizer.step", "17"}, {"position", "3 5"}, {"quote", "\"\\\n\t \u2028"}};
  state.tensors = {{"moment.output_bias", torch::arange(6, torch::kFloat32)},
                   {"generator", torch::arange(50, torch::kUInt8)},
                   {"count", torch::tensor(7, torch::kInt64)}};
  return state;
}

}  // namespace verso::test
