#include "train/guided_alignment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <string>

#include "base/error.h"
#include "model/seq2seq.h"
#include "tests/train/toy_run.h"

namespace verso {
namespace {

using Words = std::vector<std::int32_t>;

/// Pieces a a' b and X Y Y': words 0 0 1 and 0 1 1.
const Words kSourceWords{0, 0, 1}, kTargetWords{0, 1, 1};
const std::vector<WordLink> kLinks{{0, 0}, {1, 1}, {0, 1}, {1, 1}};

PairLinks linked() { return {kSourceWords, kTargetWords, kLinks}; }

Tensor random_alpha(int64_t batch, int64_t target_len, int64_t source_len) {
  torch::manual_seed(5);
  return torch::softmax(torch::randn({batch, target_len, source_len}, torch::kFloat64), -1);
}

TEST(GuidedAlignment, IsTheCrossEntropyToTheEvenDistributionOverLinkedPieces) {
  const Tensor alpha = random_alpha(2, 5, 4);
  const GuidedTargets targets = guided_targets({{}, linked()}, alpha, 0);
  EXPECT_EQ(targets.tokens, 3);
  const auto at = [&](int64_t t, int64_t j) { return std::log(alpha[1][t][j].item<double>()); };
  const double expected = -(at(0, 0) + at(0, 1)) / 2 - (at(1, 0) + at(1, 1) + at(1, 2)) / 3 -
                          (at(2, 0) + at(2, 1) + at(2, 2)) / 3;
  EXPECT_NEAR(guided_loss(alpha, targets).item<double>(), expected, 1e-6);
}

TEST(GuidedAlignment, AShiftGuidesLaterRowsUpToTheEndSymbols) {
  const Tensor alpha = random_alpha(1, 4, 4);
  EXPECT_EQ(guided_targets({linked()}, alpha, 1).tokens, 3);
  EXPECT_EQ(guided_targets({linked()}, alpha, 2).tokens, 2);
  const Tensor rows = guided_targets({linked()}, alpha, 1).positions.floor_divide(4);
  EXPECT_EQ(rows.min().item<int64_t>(), 1);
  EXPECT_EQ(rows.max().item<int64_t>(), 3);
}

TEST(GuidedAlignment, NothingLinkedIsZeroAndZeroAttentionIsFinite) {
  const Tensor alpha = torch::zeros({1, 4, 4}, torch::kFloat64).requires_grad_();
  EXPECT_EQ(guided_loss(alpha, guided_targets({{}}, alpha, 0)).item<double>(), 0);
  const Words far{9, 9, 9};
  EXPECT_EQ(guided_targets({{far, kTargetWords, kLinks}}, alpha, 0).tokens, 0);
  const Tensor loss = guided_loss(alpha, guided_targets({linked()}, alpha, 0));
  loss.backward();
  EXPECT_TRUE(std::isfinite(loss.item<double>()));
  EXPECT_TRUE(alpha.grad().isfinite().all().item<bool>());
}

TEST(GuidedAlignment, APairLongerThanAlphaIsRefused) {
  EXPECT_THROW((void)guided_targets({linked()}, random_alpha(1, 3, 4), 0), ShapeError);
  EXPECT_THROW((void)guided_targets({linked()}, random_alpha(1, 4, 3), 0), ShapeError);
}

TEST(GuidedAlignment, TheWeightHalvesWithItsHalfLife) {
  GuidedConfig config;
  config.weight = 0.8;
  EXPECT_EQ(guided_weight(config, 12345), 0.8);
  config.half_life = 100;
  EXPECT_DOUBLE_EQ(guided_weight(config, 0), 0.8);
  EXPECT_DOUBLE_EQ(guided_weight(config, 200), 0.2);
}

const std::vector<Words> kSources{{4, 5, 6}, {7}, {8, 4}}, kTargets{{5, 4, 8}, {6, 7}, {4}};
const Words kOne{0}, kTwo{0, 1};
const std::vector<WordLink> kShort{{0, 0}};

struct Guided {
  explicit Guided(DecoderKind kind, torch::Dtype type) {
    ModelSpec spec;
    spec.source_vocab = spec.target_vocab = 10;
    spec.model.embed = 3;
    spec.model.hidden = 4;
    spec.model.attention = 5;
    spec.model.dropout = {0, 0, 0, 0, 0, 0};
    spec.model.decoder.kind = kind;
    torch::manual_seed(3);
    network = Seq2Seq(spec);
    network->to(type);
  }

  /// Objective and guided loss of the pairs `which`, as in training.
  [[nodiscard]] Tensor loss(const std::vector<std::size_t>& which) {
    const std::vector<PairLinks> all{linked(), {kOne, kTwo, kShort}, {}};
    std::vector<std::span<const std::int32_t>> sources, targets;
    std::vector<PairLinks> links;
    for (const std::size_t i : which) {
      sources.emplace_back(kSources[i]);
      targets.emplace_back(kTargets[i]);
      links.push_back(all[i]);
    }
    const TargetBatch target = make_target_batch(targets, torch::kCPU);
    const DecoderOutput output =
        network->forward(make_source_batch(sources, true, torch::kCPU), target);
    return cross_entropy(*network, output.readout, target, 0.1).objective +
           0.7 * guided_loss(output.alpha, guided_targets(links, output.alpha, 1));
  }

  Seq2Seq network{nullptr};
};

TEST(GuidedAlignment, GradientsOfEveryParameterMatchFiniteDifferences) {
  constexpr double kStep = 1e-5;
  for (const DecoderKind kind : {DecoderKind::kRnnsearch, DecoderKind::kConditional}) {
    Guided guided(kind, torch::kFloat64);
    guided.loss({0, 1, 2}).backward();
    const torch::NoGradGuard no_gradients;
    for (auto& item : guided.network->named_parameters()) {
      const Tensor values = item.value().view({-1}), gradient = item.value().grad().view({-1});
      for (int64_t i = 0; i < values.numel(); ++i) {
        const double value = values[i].item<double>();
        values[i] = value + kStep;
        const double above = guided.loss({0, 1, 2}).item<double>();
        values[i] = value - kStep;
        const double below = guided.loss({0, 1, 2}).item<double>();
        values[i] = value;
        const double expected = (above - below) / (2 * kStep);
        ASSERT_NEAR(gradient[i].item<double>(), expected, 1e-6 * std::max(1.0, std::abs(expected)))
            << item.key() << "[" << i << "]";
      }
    }
  }
}

TEST(GuidedAlignment, FusedGradientsEqualTheGenericOnes) {
  for (const DecoderKind kind : {DecoderKind::kRnnsearch, DecoderKind::kConditional}) {
    Guided guided(kind, torch::kFloat);
    std::map<std::string, Tensor> expected;
    for (const Kernels kernels : {Kernels::kGeneric, Kernels::kFused}) {
      guided.network->use_kernels(kernels);
      guided.network->zero_grad();
      guided.loss({0, 1, 2}).backward();
      for (const auto& item : guided.network->named_parameters()) {
        const Tensor gradient = item.value().grad().clone();
        if (kernels == Kernels::kGeneric) {
          expected[item.key()] = gradient;
          continue;
        }
        const double difference = (gradient - expected[item.key()]).abs().max().item<double>();
        const double size = expected[item.key()].abs().max().item<double>();
        EXPECT_LE(difference, 1e-5 * size + 1e-6) << item.key();
      }
    }
  }
}

TEST(GuidedAlignment, WhatASentenceAddsDoesNotDependOnItsBatch) {
  Guided guided(DecoderKind::kConditional, torch::kFloat64);
  double alone = 0;
  for (std::size_t i = 0; i < 3; ++i) alone += guided.loss({i}).item<double>();
  EXPECT_NEAR(guided.loss({0, 1, 2}).item<double>(), alone, 1e-10);
}

/// Links of a toy corpus are i-i; every seventh line is blank.
void write_diagonal(const std::string& text, const std::string& path) {
  std::ifstream in(text);
  std::ofstream out(path);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::size_t words = line.empty() ? 0 : (line.size() + 1) / 2;
    for (std::size_t i = 0; i < words && number % 7 != 0; ++i) out << i << "-" << i << " ";
    out << "\n";
  }
}

class GuidedRun : public testing::TestWithParam<Kernels> {};

TEST_P(GuidedRun, LearnsTheLinksAndScoresThem) {
  const test::ToyRun toy(GetParam() == Kernels::kGeneric ? "guided-generic" : "guided-auto");
  write_diagonal(toy.path("train.src"), toy.path("train.links"));
  write_diagonal(toy.path("valid.src"), toy.path("valid.links"));
  Config config = toy.config("run");
  config.kernels = GetParam();
  config.data.train[0].links = toy.path("train.links");
  config.data.valid.links = toy.path("valid.links");
  config.validation.metric = Metric::kAer;
  config.model.decoder.shift = 1;
  config.model.dropout = {0, 0, 0, 0, 0, 0};
  config.training.max_updates = 300;
  config.validation.every_updates = 100;
  test::Recorder recorder;
  const TrainResult result = test::ToyRun::run(config, recorder);
  ASSERT_FALSE(recorder.validations.empty());
  const Validation& last = recorder.validations.back();
  ASSERT_TRUE(last.aer.has_value());
  EXPECT_LT(*last.aer, 0.25);  // blank gold lines leave some of it
  EXPECT_GT(last.coverage, 0.7);
  EXPECT_LE(last.coverage, 1.0);
  EXPECT_GT(last.entropy, 0);
  EXPECT_LT(last.entropy, recorder.validations.front().entropy);
  ASSERT_TRUE(recorder.lines.front().guided.has_value());
  EXPECT_LT(*recorder.lines.back().guided, 0.5 * *recorder.lines.front().guided);
  EXPECT_EQ(load_checkpoint(result.best_file, torch::kCPU).info.scores.count("aer"), 1U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, GuidedRun, testing::Values(Kernels::kGeneric, Kernels::kAuto));

}  // namespace
}  // namespace verso
