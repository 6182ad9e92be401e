#include <gtest/gtest.h>

#include <functional>

#include "model/seq2seq.h"

// The generic model's gradients against central finite differences, in double: every parameter,
// both decoder kinds, layer normalisation and dropout masks included.
namespace verso {
namespace {

struct Case {
  std::string name;
  std::function<void(ModelConfig&)> change;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

const std::vector<std::vector<std::int32_t>> kSources = {{4, 5, 6, 7}, {8, 4}, {6}};
const std::vector<std::vector<std::int32_t>> kTargets = {{5, 4}, {6, 7, 8, 5}, {4}};

std::vector<std::span<const std::int32_t>> spans(
    const std::vector<std::vector<std::int32_t>>& rows) {
  return {rows.begin(), rows.end()};
}

class NetworkGradient : public testing::TestWithParam<Case> {
 protected:
  NetworkGradient() {
    ModelSpec spec;
    spec.source_vocab = spec.target_vocab = 10;
    spec.model.embed = 3;
    spec.model.hidden = 4;
    spec.model.attention = 5;
    spec.model.dropout = {0, 0, 0, 0, 0, 0};
    GetParam().change(spec.model);
    torch::manual_seed(3);
    model = Seq2Seq(spec);
    model->to(torch::kFloat64);
    torch::NoGradGuard no_grad;
    for (Tensor& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter), 0.3);
    source = make_source_batch(spans(kSources), spec.model.attend_end, torch::kCPU);
    target = make_target_batch(spans(kTargets), torch::kCPU);
  }

  /// The same dropout masks at each call.
  Tensor loss() {
    torch::manual_seed(5);
    return cross_entropy(*model, model->forward(source, target).readout, target, 0.1).objective;
  }

  Seq2Seq model{nullptr};
  SourceBatch source;
  TargetBatch target;
};

TEST_P(NetworkGradient, MatchesFiniteDifferences) {
  model->train();
  loss().backward();
  constexpr double kStep = 1e-5;
  for (auto& item : model->named_parameters()) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    const Tensor gradient = item.value().grad().flatten();
    torch::NoGradGuard no_grad;
    const Tensor flat = item.value().view({-1});
    double* values = flat.data_ptr<double>();
    // A spread of entries of each parameter: all would take a minute.
    const int64_t stride = std::max<int64_t>(1, flat.numel() / 12);
    for (int64_t i = 0; i < flat.numel(); i += stride) {
      const double kept = values[i];
      values[i] = kept + kStep;
      const double above = loss().item<double>();
      values[i] = kept - kStep;
      const double below = loss().item<double>();
      values[i] = kept;
      const double numeric = (above - below) / (2 * kStep);
      EXPECT_NEAR(gradient[i].item<double>(), numeric, 1e-6 * std::max(1.0, std::abs(numeric)))
          << item.key() << "[" << i << "]";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, NetworkGradient,
    testing::Values(
        Case{"conditional", [](ModelConfig&) {}},
        Case{"rnnsearch",
             [](ModelConfig& m) {
               m.decoder = {DecoderKind::kRnnsearch, DecoderStart::kMean, Readout::kMaxout};
               m.tie = Tie::kNone;
             }},
        Case{"two_layers_tie_all",
             [](ModelConfig& m) {
               m.encoder.layers = 2;
               m.tie = Tie::kAll;
             }},
        Case{"layer_norm", [](ModelConfig& m) { m.layer_norm = true; }},
        Case{"layer_norm_reset_before",
             [](ModelConfig& m) {
               m.layer_norm = true;
               m.gru = GruVariant::kResetBefore;
             }},
        Case{"dropout", [](ModelConfig& m) { m.dropout = {0.3, 0.3, 0.3, 0.3, 0.2, 0.2}; }},
        Case{"without_end", [](ModelConfig& m) { m.attend_end = false; }}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace verso
