#include "data/batcher.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "tests/data/support.h"

namespace verso {
namespace {

/// Pairs of given lengths, corpus by corpus.
class FakeDataset final : public Dataset {
 public:
  struct Pair {
    std::int64_t corpus, source, target;
  };
  explicit FakeDataset(std::vector<Pair> pairs) : pairs_(std::move(pairs)), ids_(20000, 5) {}
  [[nodiscard]] std::int64_t size() const override { return std::ssize(pairs_); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t pair) const override {
    return std::span(ids_).first(static_cast<std::size_t>(at(pair).source));
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t pair) const override {
    return std::span(ids_).first(static_cast<std::size_t>(at(pair).target));
  }
  [[nodiscard]] std::int64_t line(std::int64_t pair) const override { return pair + 1; }
  [[nodiscard]] std::int64_t corpus(std::int64_t pair) const override { return at(pair).corpus; }
  [[nodiscard]] PairLinks links(std::int64_t) const override { return {}; }
  [[nodiscard]] bool has_links() const override { return false; }
  [[nodiscard]] const PairCounts& counts() const override { return counts_; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }
  [[nodiscard]] EncodedLine sampled_source(std::int64_t, Random&) const override { return {}; }
  [[nodiscard]] EncodedLine sampled_target(std::int64_t, Random&) const override { return {}; }

 private:
  [[nodiscard]] const Pair& at(std::int64_t pair) const {
    return pairs_.at(static_cast<std::size_t>(pair));
  }
  std::vector<Pair> pairs_;
  std::vector<std::int32_t> ids_;
  PairCounts counts_;
  std::string digest_ = "fake";
};

std::shared_ptr<const Dataset> draw_dataset(std::int64_t size, std::uint64_t seed,
                                            std::int64_t longest = 60) {
  Random random(seed);
  std::vector<FakeDataset::Pair> pairs;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto source =
        1 + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(longest)));
    const double ratio = 0.7 + 0.6 * random.uniform();
    const auto target =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(source) * ratio));
    pairs.push_back({0, source, target});
  }
  return std::make_shared<FakeDataset>(std::move(pairs));
}

Config config_of(std::int64_t batch_tokens, std::int64_t sort_window,
                 const std::vector<double>& weights = {1.0}) {
  Config config;
  config.training.batch_tokens = batch_tokens;
  config.training.sort_window = sort_window;
  for (const double weight : weights) {
    config.data.train.emplace_back();
    config.data.train.back().weight = weight;
  }
  return config;
}

using Batches = std::vector<std::vector<std::int64_t>>;

Batches take(Batcher& batcher, std::int64_t count) {
  Batches batches;
  for (std::int64_t i = 0; i < count; ++i) batches.push_back(batcher.next());
  return batches;
}

Batches take_epoch(Batcher& batcher) {
  Batches batches;
  do {
    batches.push_back(batcher.next());
  } while (!batcher.epoch_finished());
  return batches;
}

std::vector<std::int64_t> sorted_pairs(const Batches& batches) {
  std::vector<std::int64_t> pairs;
  for (const auto& batch : batches) pairs.insert(pairs.end(), batch.begin(), batch.end());
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

RC_GTEST_PROP(Batcher, EveryPairOnceAnEpochWithinTheBudgetAndByFallingSource,
              (std::uint64_t seed)) {
  const auto size = *rc::gen::inRange<std::int64_t>(1, 400);
  const auto tokens = *rc::gen::inRange<std::int64_t>(1, 300);
  const auto window = *rc::gen::inRange<std::int64_t>(1, 20);
  const auto dataset = draw_dataset(size, seed);
  Batcher batcher(dataset, config_of(tokens, window), seed);
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  std::iota(all.begin(), all.end(), 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Batches batches = take_epoch(batcher);
    RC_ASSERT(batcher.position().epoch == epoch);
    RC_ASSERT(std::ssize(batches) == batcher.batches_per_epoch());
    RC_ASSERT(sorted_pairs(batches) == all);
    for (const auto& batch : batches) {
      std::int64_t longest = 0;
      for (std::size_t i = 0; i < batch.size(); ++i) {
        longest = std::max(longest, std::ssize(dataset->target(batch[i])) + 1);
        if (i > 0) {
          RC_ASSERT(dataset->source(batch[i - 1]).size() >= dataset->source(batch[i]).size());
        }
      }
      RC_ASSERT(batch.size() == 1 || longest * std::ssize(batch) <= tokens);
    }
  }
}

RC_GTEST_PROP(Batcher, GoesOnFromAnyPositionAsIfNeverStopped, (std::uint64_t seed)) {
  const auto dataset = draw_dataset(*rc::gen::inRange<std::int64_t>(1, 200), seed);
  const Config config = config_of(*rc::gen::inRange<std::int64_t>(20, 300), 3);
  Batcher whole(dataset, config, seed);
  (void)take(whole, *rc::gen::inRange<std::int64_t>(0, 100));
  Batcher resumed(dataset, config, seed);
  resumed.set_position(whole.position());
  RC_ASSERT(resumed.epoch_finished() == whole.epoch_finished());
  RC_ASSERT(take(resumed, 100) == take(whole, 100));
}

TEST(Batcher, R022EachEpochHasAnOrderOfItsOwnThatTheSeedDecides) {
  const auto dataset = draw_dataset(500, 3);
  const Config config = config_of(100, 5);
  Batcher one(dataset, config, 7), same(dataset, config, 7), other(dataset, config, 8);
  const Batches first = take_epoch(one), second = take_epoch(one);
  EXPECT_NE(first, second);
  EXPECT_EQ(take_epoch(same), first);
  EXPECT_EQ(take_epoch(same), second);
  EXPECT_NE(take_epoch(other), first);
}

TEST(Batcher, WeightsRepeatPairsOrDrawAShareOfThem) {
  std::vector<FakeDataset::Pair> pairs;
  for (int i = 0; i < 100; ++i) pairs.push_back({0, 5, 5});
  for (int i = 0; i < 100; ++i) pairs.push_back({1, 5, 5});
  for (int i = 0; i < 100; ++i) pairs.push_back({2, 5, 5});
  const auto dataset = std::make_shared<FakeDataset>(pairs);
  Batcher batcher(dataset, config_of(60, 5, {2.0, 0.25, 1.5}), 1);
  std::map<std::int64_t, int> drawn;
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::map<std::int64_t, int> times;
    for (const std::int64_t pair : sorted_pairs(take_epoch(batcher))) ++times[pair];
    std::int64_t of_corpus[3] = {};
    for (const auto& [pair, count] : times) {
      of_corpus[pair / 100] += count;
      if (pair < 100) {
        EXPECT_EQ(count, 2);
      } else if (pair < 200) {
        EXPECT_EQ(count, 1);
        ++drawn[pair];
      } else {
        EXPECT_TRUE(count == 1 || count == 2);
      }
    }
    EXPECT_EQ(of_corpus[0], 200);
    EXPECT_EQ(of_corpus[1], 25);
    EXPECT_EQ(of_corpus[2], 150);
  }
  EXPECT_GT(drawn.size(), 30u) << "the second epoch must draw other pairs";
}

TEST(Batcher, TinyWeightsStillGiveABatchEveryEpoch) {
  Batcher batcher(draw_dataset(2, 1), config_of(100, 5, {0.001}), 1);
  for (int i = 0; i < 20; ++i) EXPECT_GE(batcher.next().size(), 1u);
}

TEST(Batcher, PaddingStaysUnderFivePercent) {
  Random random(11);
  std::vector<FakeDataset::Pair> pairs;
  // Lengths with a long tail and a side ratio that varies, as those of web text.
  for (int i = 0; i < 100000; ++i) {
    const double normal =
        random.uniform() + random.uniform() + random.uniform() + random.uniform() - 2.0;
    const double other =
        random.uniform() + random.uniform() + random.uniform() + random.uniform() - 2.0;
    const double source = std::clamp(std::exp(2.9 + normal), 1.0, 100.0);
    const double target = std::clamp(source * std::exp(0.25 * other), 1.0, 100.0);
    pairs.push_back({0, static_cast<std::int64_t>(source), static_cast<std::int64_t>(target)});
  }
  const auto dataset = std::make_shared<FakeDataset>(std::move(pairs));
  for (const std::int64_t tokens : {1000, 4000}) {
    const Batcher batcher(dataset, config_of(tokens, 1000), 1);
    std::cout << "padding with " << tokens << " tokens: " << fixed(100 * batcher.padding(), 2)
              << " %\n";
    EXPECT_LT(batcher.padding(), 0.05);
  }
}

TEST(Batcher, PaddingOfRealTextStaysUnderFivePercentWithTheDefaults) {
  std::vector<FakeDataset::Pair> pairs;
  const std::string source = shared_file("multi30k_tok/train.lc.norm.tok.en.gz");
  VERSO_SKIP_WITHOUT(source);
  CorpusConfig corpus;
  corpus.source = source;
  corpus.target = shared_file("multi30k_tok/train.lc.norm.tok.de.gz");
  const ParallelText text = read_parallel_text(corpus, InvalidUtf8::kError);
  for (std::size_t i = 0; i < text.source.size(); ++i) {
    pairs.push_back(
        {0, std::ssize(split_tokens(text.source[i])), std::ssize(split_tokens(text.target[i]))});
  }
  Config config;
  config.data.train.emplace_back();
  const Batcher batcher(std::make_shared<FakeDataset>(pairs), config, 1);
  std::cout << "padding of Multi30k: " << fixed(100 * batcher.padding(), 2) << " %\n";
  EXPECT_LT(batcher.padding(), 0.05);
}

TEST(Batcher, PositionsThatDoNotExistAreErrors) {
  Batcher batcher(draw_dataset(10, 1), config_of(100, 5), 1);
  EXPECT_THROW(batcher.set_position({-1, 0}), DataError);
  EXPECT_THROW(batcher.set_position({0, -1}), DataError);
  EXPECT_THROW(batcher.set_position({0, batcher.batches_per_epoch() + 1}), DataError);
}

}  // namespace
}  // namespace verso
