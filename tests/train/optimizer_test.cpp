#include "train/optimizer.h"

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include "base/error.h"
#include "train/schedule.h"

namespace verso {
namespace {

/// Gives two equal networks the same gradients for some steps; returns the largest difference.
template <class TheirOptimizer, class TheirOptions>
double difference_to(TrainingConfig config, TheirOptions options, bool fused) {
  torch::manual_seed(1);
  torch::nn::Linear ours(3, 4), theirs(3, 4);
  torch::NoGradGuard no_grad;
  theirs->weight.copy_(ours->weight);
  theirs->bias.copy_(ours->bias);
  ParameterUpdater updater(*ours, config, fused);
  TheirOptimizer optimizer(theirs->parameters(), options);
  for (int step = 0; step < 20; ++step) {
    const Tensor weight = torch::randn({4, 3}), bias = torch::randn({4});
    for (auto* net : {&ours, &theirs}) {
      (*net)->weight.mutable_grad() = weight.clone();
      (*net)->bias.mutable_grad() = bias.clone();
    }
    updater.step(config.learning_rate, 1.0);
    optimizer.step();
  }
  return std::max((ours->weight - theirs->weight).abs().max().item<double>(),
                  (ours->bias - theirs->bias).abs().max().item<double>());
}

class AdamOf : public testing::TestWithParam<bool> {};

TEST_P(AdamOf, AdamIsLibTorchs) {
  TrainingConfig config;
  config.learning_rate = 0.01;
  config.weight_decay = 0.1;
  EXPECT_LT(difference_to<torch::optim::Adam>(
                config, torch::optim::AdamOptions(0.01).weight_decay(0.1), GetParam()),
            1e-6);
}

TEST_P(AdamOf, AdamWIsLibTorchs) {
  TrainingConfig config;
  config.optimizer = Optimizer::kAdamW;
  config.learning_rate = 0.01;
  config.weight_decay = 0.1;
  EXPECT_LT(difference_to<torch::optim::AdamW>(
                config, torch::optim::AdamWOptions(0.01).weight_decay(0.1), GetParam()),
            1e-6);
}

TEST_P(AdamOf, ScaleAndNormAreThoseOfTheGradient) {
  torch::manual_seed(4);
  torch::nn::Linear network(300, 301), scaled(300, 301);
  const torch::NoGradGuard no_grad;
  double squares = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    Tensor parameter = network->parameters()[i], other = scaled->parameters()[i];
    other.copy_(parameter);
    parameter.mutable_grad() = torch::randn_like(parameter);
    other.mutable_grad() = parameter.grad() * 0.25;
    squares += parameter.grad().to(torch::kFloat64).square().sum().item<double>();
  }
  ParameterUpdater updater(*network, {}, GetParam()), plain(*scaled, {}, GetParam());
  EXPECT_NEAR(updater.gradient_norm(), std::sqrt(squares), 1e-5 * std::sqrt(squares));
  updater.step(0.01, 0.25);
  plain.step(0.01, 1.0);
  EXPECT_LT((network->weight - scaled->weight).abs().max().item<double>(), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Kernels, AdamOf, testing::Bool(),
                         [](const auto& info) { return info.param ? "Fused" : "Generic"; });

TEST(ParameterUpdater, StateOfTheWrongShapeIsRefused) {
  torch::nn::Linear network(3, 4), other(3, 5);
  ParameterUpdater updater(*network, {}, false), second(*other, {}, false);
  EXPECT_THROW(updater.set_state(second.state(), 1), CheckpointError);
  EXPECT_THROW(updater.set_state({}, 1), CheckpointError);
}

TEST(LearningRate, PlateauFallsAfterItsPatienceAndNotBelowItsFloor) {
  TrainingConfig config;
  config.learning_rate = 1.0;
  config.decay_patience = 2;
  config.min_learning_rate = 0.2;
  LearningRate rate(config);
  EXPECT_FALSE(rate.validated(false));
  EXPECT_FALSE(rate.validated(true));
  EXPECT_FALSE(rate.validated(false));
  EXPECT_TRUE(rate.validated(false));
  EXPECT_DOUBLE_EQ(rate.at(100), 0.5);
  for (int i = 0; i < 8; ++i) (void)rate.validated(false);
  EXPECT_DOUBLE_EQ(rate.at(100), 0.2);
  LearningRate again(config);
  again.set_state(rate.state());
  EXPECT_EQ(again.at(7), rate.at(7));
  EXPECT_THROW(again.set_state({}), CheckpointError);
}

TEST(LearningRate, InverseSqrtRisesThenFalls) {
  TrainingConfig config;
  config.learning_rate = 1.0;
  config.schedule = Schedule::kInverseSqrt;
  config.warmup = 100;
  const LearningRate rate(config);
  EXPECT_DOUBLE_EQ(rate.at(50), 0.5);
  EXPECT_DOUBLE_EQ(rate.at(100), 1.0);
  EXPECT_DOUBLE_EQ(rate.at(400), 0.5);
}

}  // namespace
}  // namespace verso
