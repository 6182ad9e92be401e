#include "nn/gru.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/rnn.h>

#include "base/error.h"

namespace verso {
namespace {

TEST(GruCell, EqualsLibTorchsOwn) {
  torch::manual_seed(1);
  GruCell ours(3, 5, GruVariant::kResetAfter, false);
  torch::nn::GRUCell theirs(3, 5);
  {
    torch::NoGradGuard no_grad;
    for (auto& item : ours->named_parameters()) {
      item.value().copy_(*theirs->named_parameters().find(item.key()));
    }
  }
  const Tensor x = torch::randn({4, 3}), state = torch::randn({4, 5});
  const Tensor expected = theirs->forward(x, state);
  const Tensor found = ours->step(ours->input_gates(ours->input_product(x)), state, {});
  EXPECT_LT((found - expected).abs().max().item<float>(), 1e-6);
}

TEST(GruCell, PartsOfAnInputAddUp) {
  torch::manual_seed(1);
  GruCell cell(7, 4, GruVariant::kResetAfter, false);
  {
    torch::NoGradGuard no_grad;
    for (Tensor& parameter : cell->parameters()) parameter.normal_();
  }
  const Tensor x = torch::randn({2, 7});
  const Tensor parts =
      cell->input_product(x.narrow(1, 0, 3)) + cell->input_product(x.narrow(1, 3, 4), 3);
  EXPECT_LT((parts - cell->input_product(x)).abs().max().item<float>(), 1e-5);
  EXPECT_THROW((void)cell->input_product(x, 1), ShapeError);
}

TEST(GruCell, UpdateGateNearOneKeepsTheOldState) {
  GruCell cell(2, 3, GruVariant::kResetAfter, false);
  torch::NoGradGuard no_grad;
  for (Tensor& parameter : cell->parameters()) parameter.zero_();
  for (auto& item : cell->named_parameters()) {
    if (item.key() == "bias_ih") item.value().narrow(0, 3, 3).fill_(100);
  }
  const Tensor state = torch::tensor({{0.5F, -0.25F, 1.0F}});
  const Tensor next =
      cell->step(cell->input_gates(cell->input_product(torch::ones({1, 2}))), state, {});
  EXPECT_TRUE(torch::allclose(next, state));
}

}  // namespace
}  // namespace verso
