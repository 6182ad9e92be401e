#include "search/beam_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"
#include "tests/search/random_model.h"

namespace verso {
namespace {

using test::random_network;
using test::random_sentences;
using Ids = std::vector<std::int32_t>;

std::vector<SearchInput> inputs_of(const std::vector<Ids>& sentences) {
  std::vector<SearchInput> inputs;
  for (std::size_t i = 0; i < sentences.size(); ++i) inputs.push_back({sentences[i], {}, i});
  return inputs;
}

/// A sentence read step by step with beam 1, apart from the search.
class Reader {
 public:
  Reader(Seq2Seq network, const Ids& source) : network_(std::move(network)) {
    memory_ = network_->encode(
        make_source_batch({source}, network_->spec().model.attend_end, torch::Device(torch::kCPU)));
    state_ = memory_.start;
  }
  /// Log probabilities [vocab] of the word after `previous`; alpha() is that step's.
  Tensor read(std::int32_t previous) {
    const DecoderStep out =
        network_->step(memory_, {state_, torch::full({1}, int64_t{previous}, torch::kInt64), {0}});
    state_ = out.state;
    alpha_ = out.alpha.flatten();
    return at::log_softmax(network_->logits(out.readout).flatten(), 0);
  }
  [[nodiscard]] const Tensor& alpha() const { return alpha_; }

 private:
  Seq2Seq network_;
  Memory memory_;
  Tensor state_, alpha_;
};

Ids greedy(const Seq2Seq& network, const Ids& source, std::size_t most) {
  Reader reader(network, source);
  Ids ids;
  std::int32_t previous = kBeginId;
  while (ids.size() < most) {
    Tensor log_probs = reader.read(previous).clone();
    log_probs[kPadId] = log_probs[kBeginId] = -std::numeric_limits<float>::infinity();
    previous = static_cast<std::int32_t>(log_probs.argmax().item<int64_t>());
    if (previous == kEndId) break;
    ids.push_back(previous);
  }
  return ids;
}

double formula(const Hypothesis& h, const SearchOptions& options, std::size_t source_len) {
  const auto length = static_cast<double>(h.ids.size() + (h.finished ? 1 : 0));
  double score = h.log_prob / std::pow(length, options.length_penalty);
  for (std::size_t j = 0; options.coverage_penalty > 0 && j < source_len; ++j) {
    double seen = 0;
    for (std::size_t t = 0; t < h.token_log_probs.size(); ++t) {
      seen += h.alpha[t * (source_len + 1) + j];
    }
    score += options.coverage_penalty * std::log(std::min(seen, 1.0));
  }
  return score;
}

void expect_same(const std::vector<Hypothesis>& a, const std::vector<Hypothesis>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t n = 0; n < a.size(); ++n) {
    EXPECT_EQ(a[n].ids, b[n].ids);
    EXPECT_EQ(a[n].finished, b[n].finished);
    EXPECT_NEAR(a[n].score, b[n].score, 1e-4);
    EXPECT_NEAR(a[n].log_prob, b[n].log_prob, 1e-4);
    ASSERT_EQ(a[n].alpha.size(), b[n].alpha.size());
    for (std::size_t i = 0; i < a[n].alpha.size(); ++i) {
      EXPECT_NEAR(a[n].alpha[i], b[n].alpha[i], 1e-5);
    }
  }
}

TEST(BeamSearch, BeamOneEqualsGreedy) {
  for (const auto kind : {DecoderKind::kConditional, DecoderKind::kRnnsearch}) {
    const Seq2Seq network = random_network(20, 30, 3, kind, kind == DecoderKind::kConditional);
    const auto sentences = random_sentences(30, 9, 20, 1);
    SearchOptions options;
    options.beam = 1;
    const auto found = beam_search({network}, inputs_of(sentences), options);
    std::size_t ended = 0;
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      ASSERT_EQ(found[i].size(), 1U);
      EXPECT_EQ(found[i][0].ids, greedy(network, sentences[i], 3 * sentences[i].size() + 10));
      ended += found[i][0].finished;
    }
    EXPECT_GT(ended, 0U);
  }
}

/// All translations of at most `most` tokens, each scored step by step.
std::vector<double> all_scores(const Seq2Seq& network, const Ids& source, int64_t most,
                               const SearchOptions& options) {
  std::vector<double> scores;
  const std::function<void(Hypothesis, Reader)> extend = [&](const Hypothesis& start,
                                                             Reader reader) {
    const Tensor log_probs = reader.read(start.ids.empty() ? kBeginId : start.ids.back());
    for (std::int32_t word = 0; word < log_probs.size(0); ++word) {
      if (word == kPadId || word == kBeginId) continue;
      Hypothesis next = start;
      next.token_log_probs.push_back(log_probs[word].item<float>());
      next.log_prob += next.token_log_probs.back();
      const float* alpha = reader.alpha().data_ptr<float>();
      next.alpha.insert(next.alpha.end(), alpha, alpha + reader.alpha().size(0));
      next.finished = word == kEndId;
      if (!next.finished) next.ids.push_back(word);
      if (next.finished || static_cast<int64_t>(next.ids.size()) == most) {
        scores.push_back(formula(next, options, source.size()));
      } else {
        extend(next, reader);
      }
    }
  };
  extend({}, Reader(network, source));
  std::sort(scores.rbegin(), scores.rend());
  return scores;
}

TEST(BeamSearch, WideBeamFindsWhatEnumerationFinds) {
  const Seq2Seq network = random_network(12, 7, 5);
  const auto sentences = random_sentences(4, 5, 12, 2);
  for (const double length_penalty : {0.0, 0.6, 1.0}) {
    for (const double coverage_penalty : {0.0, 0.4}) {
      SearchOptions options;
      options.beam = 1000;
      options.nbest = 12;
      options.length_penalty = length_penalty;
      options.coverage_penalty = coverage_penalty;
      options.max_length_factor = 0;
      options.max_length_extra = 3;
      const auto found = beam_search({network}, inputs_of(sentences), options);
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        const std::vector<double> all = all_scores(network, sentences[i], 3, options);
        ASSERT_EQ(found[i].size(), 12U);
        for (std::size_t n = 0; n < 12; ++n) EXPECT_NEAR(found[i][n].score, all[n], 1e-5);
      }
    }
  }
}

TEST(BeamSearch, R044SentenceDoesNotDependOnItsBatch) {
  const Seq2Seq network = random_network(20, 30, 7);
  auto sentences = random_sentences(64, 25, 20, 3);
  sentences[10].resize(1);
  sentences[11] = random_sentences(1, 1, 20, 4)[0];
  sentences[12].resize(60, 5);
  for (const int64_t beam : {1, 5}) {
    SearchOptions options;
    options.beam = beam;
    options.nbest = std::min<int64_t>(beam, 3);
    const auto inputs = inputs_of(sentences);
    const auto together = beam_search({network}, inputs, options);
    for (const std::size_t size : {1, 2, 7}) {
      for (std::size_t first = 0; first < inputs.size(); first += size) {
        const auto begin = inputs.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            inputs.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, inputs.size()));
        const auto part = beam_search({network}, {begin, end}, options);
        for (std::size_t i = 0; i < part.size(); ++i) expect_same(part[i], together[first + i]);
      }
    }
    std::vector<std::size_t> order(inputs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random(9).shuffle(order);
    std::vector<SearchInput> shuffled;
    for (const std::size_t i : order) shuffled.push_back(inputs[i]);
    const auto found = beam_search({network}, shuffled, options);
    for (std::size_t i = 0; i < order.size(); ++i) expect_same(found[i], together[order[i]]);
  }
}

TEST(BeamSearch, R048AnyBeamWorksWithAnyVocabulary) {
  for (const int64_t vocab : {4, 5, 6}) {
    const Seq2Seq network = random_network(10, vocab, 11);
    const auto sentences = random_sentences(6, 6, 10, 5);
    for (const int64_t beam : {1, 2, 5, 64}) {
      SearchOptions options;
      options.beam = options.nbest = beam;
      for (const auto& nbest : beam_search({network}, inputs_of(sentences), options)) {
        ASSERT_FALSE(nbest.empty());
        std::set<Ids> different;
        for (const Hypothesis& hypothesis : nbest) {
          different.insert(hypothesis.ids);
          for (const std::int32_t id : hypothesis.ids) {
            EXPECT_TRUE(id == kUnknownId || (id >= kSpecialIds && id < vocab));
          }
        }
        EXPECT_EQ(different.size(), nbest.size());
      }
    }
  }
}

TEST(BeamSearch, R048R050RefusesBeamsThatMakeNoSense) {
  const Seq2Seq network = random_network(10, 10, 1);
  const Ids source{4};
  const auto with = [&](int64_t beam, int64_t nbest) {
    SearchOptions options;
    options.beam = beam;
    options.nbest = nbest;
    return beam_search({network}, {{source, {}, 0}}, options);
  };
  EXPECT_THROW((void)with(0, 1), UsageError);
  EXPECT_THROW((void)with(-3, 1), UsageError);
  EXPECT_THROW((void)with(3, 5), UsageError);
  EXPECT_EQ(with(3, 3)[0].size(), 3U);
}

TEST(BeamSearch, R050BestDoesNotDependOnHowManyAreWanted) {
  const Seq2Seq network = random_network(20, 30, 13);
  const auto sentences = random_sentences(20, 8, 20, 6);
  for (const double penalty : {0.0, 1.0}) {
    SearchOptions options;
    options.beam = 6;
    options.length_penalty = penalty;
    const auto one = beam_search({network}, inputs_of(sentences), options);
    options.nbest = 6;
    const auto six = beam_search({network}, inputs_of(sentences), options);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      ASSERT_EQ(six[i].size(), 6U);
      expect_same(one[i], {six[i][0]});
      for (std::size_t n = 1; n < 6; ++n) EXPECT_LE(six[i][n].score, six[i][n - 1].score);
    }
  }
}

TEST(BeamSearch, R052OneFormulaForFinishedAndCut) {
  const Seq2Seq network = random_network(20, 30, 17);
  const auto sentences = random_sentences(20, 6, 20, 7);
  std::size_t cut = 0, finished = 0;
  for (const double length_penalty : {0.0, 1.0}) {
    for (const double coverage_penalty : {0.0, 0.3}) {
      SearchOptions options;
      options.beam = options.nbest = 4;
      options.length_penalty = length_penalty;
      options.coverage_penalty = coverage_penalty;
      options.max_length_factor = 0;
      options.max_length_extra = 2;
      const auto found = beam_search({network}, inputs_of(sentences), options);
      for (std::size_t i = 0; i < sentences.size(); ++i) {
        for (const Hypothesis& h : found[i]) {
          (h.finished ? finished : cut) += 1;
          ASSERT_EQ(h.token_log_probs.size(), h.ids.size() + (h.finished ? 1 : 0));
          EXPECT_LE(h.token_log_probs.size(), 2U);
          double sum = 0;
          for (const float value : h.token_log_probs) sum += value;
          EXPECT_NEAR(h.log_prob, sum, 1e-9);
          EXPECT_TRUE(std::isfinite(h.score));
          EXPECT_NEAR(h.score, formula(h, options, sentences[i].size()), 1e-6);
          if (length_penalty == 0 && coverage_penalty == 0) {
            EXPECT_EQ(h.score, h.log_prob);
          }
        }
      }
    }
  }
  EXPECT_GT(cut, 0U);
  EXPECT_GT(finished, 0U);
}

TEST(BeamSearch, R056LengthIsBoundByTheSource) {
  const Seq2Seq network = random_network(20, 30, 19);
  torch::NoGradGuard no_gradients;
  network->named_parameters()["output_bias"][kEndId] -= 1000;
  const auto sentences = random_sentences(10, 8, 20, 8);
  SearchOptions options;
  options.max_length_factor = 1.5;
  options.max_length_extra = 2;
  const auto found = beam_search({network}, inputs_of(sentences), options);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    EXPECT_FALSE(found[i][0].finished);
    EXPECT_EQ(found[i][0].ids.size(),
              static_cast<std::size_t>(1.5 * static_cast<double>(sentences[i].size()) + 2));
  }
}

TEST(BeamSearch, R056NoNgramTwice) {
  const Seq2Seq network = random_network(20, 12, 23);
  const auto sentences = random_sentences(24, 12, 20, 9);
  for (const int64_t size : {1, 2, 3}) {
    for (const int64_t beam : {1, 5}) {
      SearchOptions options;
      options.beam = options.nbest = beam;
      options.no_repeat_ngram = size;
      for (const auto& nbest : beam_search({network}, inputs_of(sentences), options)) {
        for (const Hypothesis& h : nbest) {
          std::set<Ids> seen;
          for (std::ptrdiff_t i = 0; i + size <= std::ssize(h.ids); ++i) {
            EXPECT_TRUE(seen.insert(Ids(h.ids.begin() + i, h.ids.begin() + i + size)).second);
          }
        }
      }
    }
  }
}

TEST(BeamSearch, EnsembleOfTheSameModelEqualsTheModel) {
  const Seq2Seq network = random_network(20, 30, 29);
  const auto sentences = random_sentences(16, 10, 20, 10);
  SearchOptions options;
  options.beam = options.nbest = 4;
  const auto one = beam_search({network}, inputs_of(sentences), options);
  const auto two = beam_search({network, network}, inputs_of(sentences), options);
  for (std::size_t i = 0; i < sentences.size(); ++i) expect_same(one[i], two[i]);
}

TEST(BeamSearch, AlphaRowsAreDistributionsOverTheSentence) {
  for (const bool attend_end : {true, false}) {
    const Seq2Seq network = random_network(20, 30, 31, DecoderKind::kConditional, attend_end);
    const auto sentences = random_sentences(10, 10, 20, 11);
    const auto found = beam_search({network}, inputs_of(sentences), {});
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      const Hypothesis& h = found[i][0];
      const std::size_t columns = sentences[i].size() + 1;
      ASSERT_EQ(h.alpha.size(), h.token_log_probs.size() * columns);
      for (std::size_t t = 0; t < h.token_log_probs.size(); ++t) {
        double sum = 0;
        for (std::size_t j = 0; j < columns; ++j) sum += h.alpha[t * columns + j];
        EXPECT_NEAR(sum, 1, 1e-5);
        if (!attend_end) {
          EXPECT_EQ(h.alpha[t * columns + columns - 1], 0);
        }
      }
    }
  }
}

TEST(BeamSearch, PrefixIsKeptAndScored) {
  const Seq2Seq network = random_network(20, 30, 37);
  const auto sentences = random_sentences(8, 6, 20, 12);
  const Ids prefix{9, kUnknownId, 9};
  auto inputs = inputs_of(sentences);
  for (std::size_t i = 0; i < inputs.size(); i += 2) inputs[i].prefix = prefix;
  SearchOptions options;
  options.beam = options.nbest = 3;
  const auto plain = beam_search({network}, inputs_of(sentences), options);
  const auto found = beam_search({network}, inputs, options);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i % 2 == 1) {
      expect_same(found[i], plain[i]);
      continue;
    }
    Reader reader(network, sentences[i]);
    std::vector<float> expected;
    std::int32_t previous = kBeginId;
    for (const std::int32_t id : prefix) {
      expected.push_back(reader.read(previous)[id].item<float>());
      previous = id;
    }
    for (const Hypothesis& h : found[i]) {
      ASSERT_GE(h.ids.size(), prefix.size());
      EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), h.ids.begin()));
      for (std::size_t t = 0; t < prefix.size(); ++t) {
        EXPECT_NEAR(h.token_log_probs[t], expected[t], 1e-5);
      }
    }
  }
}

TEST(BeamSearch, SamplesDependOnSeedAndStreamOnly) {
  const Seq2Seq network = random_network(20, 30, 41);
  const auto sentences = random_sentences(12, 8, 20, 13);
  SearchOptions options;
  options.sample = true;
  options.beam = options.nbest = 4;
  const auto together = beam_search({network}, inputs_of(sentences), options);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const auto alone = beam_search({network}, {{sentences[i], {}, i}}, options);
    expect_same(alone[0], together[i]);
    EXPECT_EQ(alone[0].size(), 4U);
  }
  options.seed = 2;
  const auto other = beam_search({network}, inputs_of(sentences), options);
  std::size_t different = 0;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    different += other[i][0].ids != together[i][0].ids;
  }
  EXPECT_GT(different, 0U);
}

TEST(BeamSearch, SamplingAmongOneIsGreedy) {
  const Seq2Seq network = random_network(20, 30, 43);
  const auto sentences = random_sentences(12, 8, 20, 14);
  SearchOptions options;
  options.beam = 1;
  const auto best = beam_search({network}, inputs_of(sentences), options);
  options.sample = true;
  options.top_k = 1;
  const auto drawn = beam_search({network}, inputs_of(sentences), options);
  options.top_k = 0;
  options.temperature = 1e-4;
  const auto cold = beam_search({network}, inputs_of(sentences), options);
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    expect_same(drawn[i], best[i]);
    expect_same(cold[i], best[i]);
  }
}

TEST(BeamSearch, CudaFindsWhatTheCpuFinds) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device";
  const auto sentences = random_sentences(24, 12, 20, 15);
  auto inputs = inputs_of(sentences);
  const Ids prefix{7};
  for (std::size_t i = 0; i < inputs.size(); i += 5) inputs[i].prefix = prefix;
  for (const int64_t ngram : {0, 2}) {
    Seq2Seq network = random_network(20, 30, 47);
    SearchOptions options;
    options.beam = options.nbest = 4;
    options.no_repeat_ngram = ngram;
    const auto here = beam_search({network}, inputs, options);
    network->to(torch::kCUDA);
    const auto there = beam_search({network}, inputs, options);
    for (std::size_t i = 0; i < inputs.size(); ++i) expect_same(there[i], here[i]);
  }
}

TEST(BeamSearch, DamagedModelIsANumericError) {
  const Seq2Seq network = random_network(10, 10, 1);
  torch::NoGradGuard no_gradients;
  network->named_parameters()["output_bias"].fill_(std::numeric_limits<float>::quiet_NaN());
  const Ids source{4, 5};
  EXPECT_THROW((void)beam_search({network}, {{source, {}, 0}}, {}), NumericError);
}

}  // namespace
}  // namespace verso
