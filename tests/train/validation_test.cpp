#include "train/validation.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace verso {
namespace {

class ForcedLossOfPairs : public testing::Test {
 protected:
  ForcedLossOfPairs() {
    ModelSpec spec;
    spec.source_vocab = spec.target_vocab = 30;
    spec.model.embed = 8;
    spec.model.hidden = 12;
    spec.model.attention = 10;
    torch::manual_seed(1);
    network = Seq2Seq(spec);
    Random random(4);
    for (int i = 0; i < 64; ++i) {
      sources.push_back(line(random));
      targets.push_back(line(random));
    }
  }

  static EncodedLine line(Random& random) {
    EncodedLine line;
    const auto len = 1 + random.below(20);
    for (std::uint64_t i = 0; i < len; ++i) {
      line.ids.push_back(static_cast<std::int32_t>(4 + random.below(26)));
      line.word_of.push_back(static_cast<std::int32_t>(i));
    }
    return line;
  }

  Seq2Seq network{nullptr};
  std::vector<EncodedLine> sources, targets;
  std::atomic<int> stop{0};
};

// R028
TEST_F(ForcedLossOfPairs, R028_IsTheSameForEveryBatchSizeAndOrder) {
  const auto whole = forced_loss(network, sources, targets, 100000, stop);
  ASSERT_TRUE(whole.has_value());
  for (const int64_t batch_tokens : {1, 7 * 12, 64 * 12}) {
    const auto loss = forced_loss(network, sources, targets, batch_tokens, stop);
    EXPECT_EQ(loss->tokens, whole->tokens);
    EXPECT_NEAR(loss->nll, whole->nll, 1e-5 * whole->nll) << batch_tokens;
  }
  std::vector<EncodedLine> shuffled_sources, shuffled_targets;
  std::vector<std::size_t> order(sources.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Random(9).shuffle(order);
  for (const std::size_t i : order) {
    shuffled_sources.push_back(sources[i]);
    shuffled_targets.push_back(targets[i]);
  }
  const auto shuffled = forced_loss(network, shuffled_sources, shuffled_targets, 500, stop);
  EXPECT_NEAR(shuffled->nll, whole->nll, 1e-5 * whole->nll);
}

TEST_F(ForcedLossOfPairs, R028_OfTheTextTwiceIsTwiceAsMuchOverTwiceTheTokens) {
  const auto once = forced_loss(network, sources, targets, 500, stop);
  for (std::size_t i = 0; i < 64; ++i) {
    sources.push_back(EncodedLine(sources[i]));
    targets.push_back(EncodedLine(targets[i]));
  }
  const auto twice = forced_loss(network, sources, targets, 500, stop);
  EXPECT_EQ(twice->tokens, 2 * once->tokens);
  EXPECT_NEAR(twice->nll, 2 * once->nll, 1e-5 * twice->nll);
}

TEST_F(ForcedLossOfPairs, LeavesTheNetworkInItsMode) {
  network->train();
  (void)forced_loss(network, sources, targets, 500, stop);
  EXPECT_TRUE(network->is_training());
}

TEST_F(ForcedLossOfPairs, GivesUpWhenAskedToStop) {
  stop = 15;
  EXPECT_FALSE(forced_loss(network, sources, targets, 500, stop).has_value());
}

}  // namespace
}  // namespace verso
