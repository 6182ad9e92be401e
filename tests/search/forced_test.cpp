#include "search/forced.h"

#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "base/error.h"
#include "search/beam_search.h"
#include "tests/search/random_model.h"

namespace verso {
namespace {

using test::random_model;
using test::random_sentences;

TEST(ForcedDecode, R052R063AgreesWithTheSearch) {
  for (const auto kind : {DecoderKind::kConditional, DecoderKind::kRnnsearch}) {
    const TranslationModel first = random_model(1, kind), second = random_model(2, kind);
    const auto sentences = random_sentences(20, 12, 12, 1);
    std::vector<SearchInput> inputs;
    for (const auto& sentence : sentences) inputs.push_back({sentence, {}, 0});
    SearchOptions options;
    options.beam = 5;
    options.nbest = 3;
    for (const bool ensemble : {false, true}) {
      std::vector<Seq2Seq> networks{first.network};
      std::vector<const TranslationModel*> models{&first};
      if (ensemble) {
        networks.push_back(second.network);
        models.push_back(&second);
      }
      const auto found = beam_search(networks, inputs, options);
      std::vector<EncodedPair> pairs;
      std::vector<const Hypothesis*> hypotheses;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        for (const Hypothesis& h : found[i]) {
          if (!h.finished || h.ids.empty()) continue;
          pairs.push_back({{sentences[i], {}}, {h.ids, {}}});
          hypotheses.push_back(&h);
        }
      }
      ASSERT_GT(pairs.size(), 10U);
      const auto forced = forced_decode(models, pairs, {.batch_tokens = 64});
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        EXPECT_NEAR(forced[i].log_prob, hypotheses[i]->log_prob, 1e-4);
        ASSERT_EQ(forced[i].token_log_probs.size(), hypotheses[i]->token_log_probs.size());
        ASSERT_EQ(forced[i].alpha.size(), hypotheses[i]->alpha.size());
        for (std::size_t k = 0; k < forced[i].alpha.size(); ++k) {
          EXPECT_NEAR(forced[i].alpha[k], hypotheses[i]->alpha[k], 1e-5);
        }
      }
    }
  }
}

TEST(ForcedDecode, EnsembleIsTheMeanOfProbabilities) {
  const TranslationModel a = random_model(3), b = random_model(4);
  const std::vector<std::string> source{"a b c", "d"}, target{"A B", "C D E"};
  const auto one = forced_decode({&a}, source, target), two = forced_decode({&b}, source, target);
  const auto both = forced_decode({&a, &b}, source, target);
  for (std::size_t i = 0; i < source.size(); ++i) {
    for (std::size_t t = 0; t < both[i].token_log_probs.size(); ++t) {
      const double mean =
          (std::exp(one[i].token_log_probs[t]) + std::exp(two[i].token_log_probs[t])) / 2;
      EXPECT_NEAR(both[i].token_log_probs[t], std::log(mean), 1e-5);
    }
    for (std::size_t k = 0; k < both[i].alpha.size(); ++k) {
      EXPECT_NEAR(both[i].alpha[k], (one[i].alpha[k] + two[i].alpha[k]) / 2, 1e-6);
    }
  }
}

TEST(ForcedDecode, R069EmptySideGivesAnEmptyRecordAndTouchesNothing) {
  const TranslationModel model = random_model(5);
  const std::vector<std::string> source{"a b", "", "c d e f g", "b", "h a"};
  const std::vector<std::string> target{"A", "B C", "C", " \t", "D E F G"};
  for (const std::int64_t batch_tokens : {1, 7, 1000}) {
    const auto pairs = forced_decode({&model}, source, target, {.batch_tokens = batch_tokens});
    ASSERT_EQ(pairs.size(), 5U);
    for (const std::size_t empty : {1U, 3U}) {
      EXPECT_TRUE(pairs[empty].token_log_probs.empty());
      EXPECT_TRUE(pairs[empty].alpha.empty());
      EXPECT_EQ(pairs[empty].log_prob, 0);
    }
    for (const std::size_t i : {0U, 2U, 4U}) {
      const auto alone = forced_decode({&model}, {source[i]}, {target[i]});
      EXPECT_NEAR(pairs[i].log_prob, alone[0].log_prob, 1e-4);
      EXPECT_EQ(pairs[i].alpha.size(),
                (pairs[i].source.ids.size() + 1) * (pairs[i].target.ids.size() + 1));
    }
  }
}

/// alpha exp(-g), normalised, by LibTorch's gradient of each step's alpha.
std::vector<double> posterior_by_definition(Seq2Seq network, const EncodedLine& source,
                                            const EncodedLine& target) {
  network->use_kernels(Kernels::kGeneric);
  const SourceBatch source_batch =
      make_source_batch({source.ids}, network->spec().model.attend_end, torch::kCPU);
  const TargetBatch target_batch = make_target_batch({target.ids}, torch::kCPU);
  Trace trace;
  const DecoderOutput out = network->forward(source_batch, target_batch, &trace);
  const Tensor loss = cross_entropy(*network, out.readout, target_batch, 0).objective;
  const auto g = torch::autograd::grad({loss}, trace.at(Site::kAlpha));
  std::vector<double> posterior;
  for (std::size_t t = 0; t < g.size(); ++t) {
    const Tensor weights = (trace.at(Site::kAlpha)[t].detach() * at::exp(-g[t])).flatten();
    const Tensor row = (weights / weights.sum()).to(torch::kDouble).contiguous();
    posterior.insert(posterior.end(), row.data_ptr<double>(), row.data_ptr<double>() + row.numel());
  }
  return posterior;
}

TEST(ForcedDecode, PosteriorAttentionIsWhatTheGradientMakesOfAlpha) {
  const std::vector<std::string> source{"a b", "c d e f g", "", "b"};
  const std::vector<std::string> target{"A", "D C A", "B", "D E F G"};
  const ForcedOptions options{.attention = AttentionKind::kPosterior};
  for (const auto kind : {DecoderKind::kConditional, DecoderKind::kRnnsearch}) {
    const TranslationModel model = random_model(6, kind), other = random_model(7, kind);
    const auto prior = forced_decode({&model}, source, target);
    const auto found = forced_decode({&model}, source, target, options);
    const auto of_other = forced_decode({&other}, source, target, options);
    const auto both = forced_decode({&model, &other}, source, target, options);
    double most = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
      EXPECT_NEAR(found[i].log_prob, prior[i].log_prob, 1e-5);
      ASSERT_EQ(found[i].alpha.size(), prior[i].alpha.size());
      if (found[i].alpha.empty()) continue;
      const auto expected =
          posterior_by_definition(model.network, found[i].source, found[i].target);
      ASSERT_EQ(found[i].alpha.size(), expected.size());
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_NEAR(found[i].alpha[k], expected[k], 1e-4);
        EXPECT_NEAR(both[i].alpha[k], (found[i].alpha[k] + of_other[i].alpha[k]) / 2, 1e-5);
        most = std::max(most, std::abs(expected[k] - static_cast<double>(prior[i].alpha[k])));
      }
    }
    EXPECT_GT(most, 0.05);  // it is not the prior
    for (const Tensor& parameter : model.network->parameters()) {
      EXPECT_FALSE(parameter.grad().defined());
    }
    EXPECT_THROW((void)forced_decode({&model}, source, target,
                                     {.attention = AttentionKind::kPosterior, .shift = 1}),
                 UsageError);
  }
}

TEST(ForcedDecode, AShiftReadsTheSameStepsLaterUpToTheLastWord) {
  for (const auto kind : {DecoderKind::kConditional, DecoderKind::kRnnsearch}) {
    const TranslationModel model = random_model(5, kind);
    const std::vector<std::string> source{"a b", "c d e f g", "b"}, target{"A", "D C A", "D E F G"};
    const auto plain = forced_decode({&model}, source, target);
    for (const std::int64_t shift : {1, 2}) {
      const auto later = forced_decode({&model}, source, target, {.shift = shift});
      for (std::size_t i = 0; i < source.size(); ++i) {
        EXPECT_NEAR(later[i].log_prob, plain[i].log_prob, 1e-5);
        ASSERT_EQ(later[i].alpha.size(), plain[i].alpha.size());
        ASSERT_EQ(later[i].token_log_probs.size(), plain[i].token_log_probs.size());
        const std::size_t columns = plain[i].source.ids.size() + 1;
        const std::size_t skipped = columns * static_cast<std::size_t>(shift);
        for (std::size_t k = skipped; k < plain[i].alpha.size(); ++k) {
          EXPECT_NEAR(later[i].alpha[k - skipped], plain[i].alpha[k], 1e-5);
        }
        for (std::size_t row = 0; row < later[i].alpha.size(); row += columns) {
          double sum = 0;
          for (std::size_t j = 0; j < columns; ++j) {
            sum += static_cast<double>(later[i].alpha[row + j]);
          }
          EXPECT_NEAR(sum, 1, 1e-5);
        }
      }
    }
  }
}

/// What --shift is for: from that step on, and no sooner, a word changes its own attention.
TEST(ForcedDecode, AWordActsOnItsRowFromShiftOneOrTwoOn) {
  for (const auto& [kind, first] :
       {std::pair{DecoderKind::kConditional, 1}, std::pair{DecoderKind::kRnnsearch, 2}}) {
    const TranslationModel model = random_model(5, kind);
    for (const std::int64_t shift : {0, 1, 2}) {
      const ForcedOptions options{.shift = shift};
      const auto one = forced_decode({&model}, {"a b c d"}, {"A B"}, options);
      const auto other = forced_decode({&model}, {"a b c d"}, {"A G"}, options);
      double change = 0;  // in the row of the last word, which is all that differs
      for (std::size_t j = 5; j < 10; ++j) {
        change += std::abs(static_cast<double>(one[0].alpha[j] - other[0].alpha[j]));
      }
      EXPECT_EQ(change > 1e-6, shift >= first) << shift;
    }
  }
}

TEST(ForcedDecode, ProbabilitiesOfAllNextWordsSumToOne) {
  const TranslationModel model = random_model(6);
  const auto words = static_cast<std::int32_t>(model.vocabularies.target->size());
  std::vector<EncodedPair> pairs;
  for (std::int32_t word = 0; word < words; ++word)
    pairs.push_back({{{4, 5, 6}, {}}, {{word}, {}}});
  double total = 0;
  for (const ForcedPair& pair : forced_decode({&model}, pairs)) {
    total += std::exp(pair.token_log_probs[0]);
  }
  EXPECT_NEAR(total, 1, 1e-5);
}

TEST(ForcedDecode, RefusesModelsWithOtherVocabularies) {
  const TranslationModel model = random_model(7);
  TranslationModel other = random_model(8);
  other.vocabularies.target = test::word_vocabulary("A B C D E F G X");
  try {
    (void)forced_decode({&model, &other}, {"a"}, {"A"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("model 2: its target vocabulary"), std::string::npos);
  }
}

}  // namespace
}  // namespace verso
