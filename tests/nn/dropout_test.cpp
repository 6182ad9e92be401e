#include "nn/dropout.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace verso {
namespace {

TEST(DropoutMask, IsScaledZeroOrAbsent) {
  torch::manual_seed(1);
  EXPECT_FALSE(dropout_mask(0.0, 2, 3, torch::kFloat32).defined());
  const Tensor mask = dropout_mask(0.3, 501, 333, torch::kFloat32);
  const float kept = 1.0F / 0.7F;
  EXPECT_TRUE(at::logical_or(mask.eq(kept), mask.eq(0.0)).all().item<bool>());
  EXPECT_NEAR(mask.mean().item<float>(), 1.0, 0.01);
  // Neighbours in both directions are as independent as any.
  const auto agree = [](const Tensor& a, const Tensor& b) {
    return a.eq(b).to(torch::kFloat32).mean().item<float>();
  };
  const float chance = 0.3F * 0.3F + 0.7F * 0.7F;
  EXPECT_NEAR(agree(mask.slice(0, 0, 500), mask.slice(0, 1, 501)), chance, 0.01);
  EXPECT_NEAR(agree(mask.slice(1, 0, 332), mask.slice(1, 1, 333)), chance, 0.01);
}

TEST(DropoutMask, DependsOnTheSeedAndOnNothingElse) {
  const auto draw = [](std::uint64_t seed, int threads) {
    at::set_num_threads(threads);
    torch::manual_seed(seed);
    (void)dropout_mask(0.5, 3, 5, torch::kFloat32);
    return dropout_mask(0.5, 200, 301, torch::kFloat32);
  };
  const Tensor mask = draw(1, 1);
  EXPECT_TRUE(mask.equal(draw(1, 2)));
  EXPECT_FALSE(mask.equal(draw(2, 2)));
  torch::manual_seed(1);
  (void)dropout_mask(0.5, 3, 5, torch::kFloat64);
  EXPECT_TRUE(mask.to(torch::kFloat64).equal(dropout_mask(0.5, 200, 301, torch::kFloat64)));
}

}  // namespace
}  // namespace verso
