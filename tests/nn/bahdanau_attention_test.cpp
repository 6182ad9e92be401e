#include "nn/bahdanau_attention.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace verso {
namespace {

class Attention : public testing::Test {
 protected:
  Attention() {
    torch::manual_seed(2);
    for (auto& item : attention->named_parameters()) {
      torch::NoGradGuard no_grad;
      item.value().normal_();
    }
  }
  BahdanauAttention attention{4, 5};
  Tensor states = torch::randn({2, 6, 8});
  Tensor mask = torch::tensor({1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0}).view({2, 6}).to(torch::kBool);
  Tensor query = torch::randn({2, 3, 4});

  AttentionOutput attend() {
    return attention->forward(attention->project_query(query), states,
                              attention->project_keys(states), mask);
  }
};

TEST_F(Attention, RowsSumToOneAndPaddingGetsExactlyNothing) {
  const AttentionOutput out = attend();
  EXPECT_EQ(out.alpha.sizes(), (std::vector<int64_t>{2, 3, 6}));
  EXPECT_LT((out.alpha.sum(-1) - 1).abs().max().item<float>(), 1e-6);
  EXPECT_EQ(out.alpha[1].narrow(1, 2, 4).abs().max().item<float>(), 0.0F);
}

TEST_F(Attention, PaddedStatesReachNothing) {
  const AttentionOutput before = attend();
  states[1].narrow(0, 2, 4).fill_(1e3);
  const AttentionOutput after = attend();
  EXPECT_TRUE(torch::equal(before.context, after.context));
  EXPECT_TRUE(torch::equal(before.alpha, after.alpha));
}

TEST_F(Attention, EachQueryIsAsIfAlone) {
  const AttentionOutput all = attend();
  query = query.narrow(1, 1, 1).contiguous();
  EXPECT_LT((attend().context - all.context.narrow(1, 1, 1)).abs().max().item<float>(), 1e-6);
}

// With v = 0 every position gets the same energy: alpha is uniform over real positions, no gradient
// reaches W and U, but one reaches v: how attention starts to learn.
TEST_F(Attention, ZeroEnergyIsUniformAndOnlyItsOwnGradientIsNotZero) {
  for (auto& item : attention->named_parameters()) {
    torch::NoGradGuard no_grad;
    if (item.key() == "energy") item.value().zero_();
  }
  const AttentionOutput out = attend();
  EXPECT_LT((out.alpha[0] - 1.0 / 6).abs().max().item<float>(), 1e-7);
  EXPECT_LT((out.alpha[1].narrow(1, 0, 2) - 0.5).abs().max().item<float>(), 1e-7);
  (out.context * torch::randn_like(out.context)).sum().backward();
  for (const auto& item : attention->named_parameters()) {
    const float largest = item.value().grad().abs().max().item<float>();
    if (item.key() == "energy") {
      EXPECT_GT(largest, 0.0F);
    } else {
      EXPECT_EQ(largest, 0.0F) << item.key();
    }
  }
}

TEST_F(Attention, WrongShapesAreNamed) {
  EXPECT_THROW((void)attention->forward(query, states, attention->project_keys(states), mask),
               ShapeError);
}

}  // namespace
}  // namespace verso
