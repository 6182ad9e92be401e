#include "tests/fixtures/reference.h"

#include <gtest/gtest.h>

#include "model/seq2seq.h"

// Our model against an independent implementation in Python's torch, in double.
namespace verso {
namespace {

constexpr double kTolerance = 1e-9;  // the issue asks for 1e-5; double gives far more

double difference(const Tensor& ours, const Tensor& theirs) {
  EXPECT_EQ(ours.sizes(), theirs.sizes());
  if (ours.sizes() != theirs.sizes()) return 1;
  return (ours - theirs).abs().max().item<double>();
}

class ModelReference : public testing::TestWithParam<std::string> {
 protected:
  test::Reference reference = test::load_reference(GetParam());
  Seq2Seq model = test::make_model(reference);
  std::vector<std::vector<std::int32_t>> sources =
      test::sentences(reference.at("input.source"), reference.at("input.source_lengths"));
  std::vector<std::vector<std::int32_t>> targets =
      test::sentences(reference.at("input.target_out"), reference.at("input.target_lengths"));
  SourceBatch source =
      make_source_batch(test::spans(sources), reference.config.attend_end, torch::kCPU);
  TargetBatch target = make_target_batch(test::spans(targets), torch::kCPU);

  /// [batch, len, …] with positions beyond each length made 0, as the fixtures have it.
  static Tensor clipped(Tensor x, const Tensor& lengths) {
    x = x.detach().clone();
    for (int64_t row = 0; row < x.size(0); ++row) {
      const int64_t length = lengths[row].item<int64_t>();
      x[row].narrow(0, length, x.size(1) - length).zero_();
    }
    return x;
  }
};

TEST_P(ModelReference, ParametersAreTheReferences) {
  std::set<std::string> ours, theirs;
  for (const auto& item : model->named_parameters()) {
    ours.insert("parameter." + test::reference_name(item.key()));
  }
  for (const auto& [name, tensor] : reference.tensors) {
    if (name.rfind("parameter.", 0) == 0) theirs.insert(name);
  }
  EXPECT_EQ(ours, theirs);
}

TEST_P(ModelReference, EncoderAndStartAreTheReferences) {
  const Memory memory = model->encode(source);
  EXPECT_LT(difference(clipped(memory.states, reference.at("input.source_lengths")),
                       reference.at("expected.encoder")),
            kTolerance);
  EXPECT_LT(difference(memory.start, reference.at("expected.start")), kTolerance);
}

TEST_P(ModelReference, AlphaAndLogitsAreTheReferences) {
  const DecoderOutput output = model->forward(source, target);
  EXPECT_LT(difference(clipped(output.alpha, reference.at("input.target_lengths")),
                       reference.at("expected.alpha")),
            kTolerance);
  const Tensor expected =
      reference.at("expected.logits").flatten(0, 1).index_select(0, target.positions);
  EXPECT_LT(difference(model->logits(output.readout), expected), kTolerance);
}

TEST_P(ModelReference, LossAndEveryGradientAreTheReferences) {
  for (const bool smoothed : {false, true}) {
    const double eps = smoothed ? reference.sizes["label_smoothing"].get<double>() : 0.0;
    model->zero_grad();
    const DecoderOutput output = model->forward(source, target);
    const Loss loss = cross_entropy(*model, output.readout, target, eps);
    const Tensor mean = loss.objective / static_cast<double>(loss.tokens);
    mean.backward();
    EXPECT_LT(difference(mean.reshape({1}),
                         reference.at(smoothed ? "expected.loss_smoothed" : "expected.loss")),
              kTolerance);
    const std::string prefix = smoothed ? "gradient_smoothed." : "gradient.";
    for (const auto& item : model->named_parameters()) {
      ASSERT_TRUE(item.value().grad().defined()) << item.key();
      EXPECT_LT(
          difference(item.value().grad(), reference.at(prefix + test::reference_name(item.key()))),
          kTolerance)
          << item.key();
    }
  }
}

TEST_P(ModelReference, LossOfEachPairAloneAddsUpToTheBatch) {
  torch::NoGradGuard no_grad;
  const DecoderOutput output = model->forward(source, target);
  const double whole = cross_entropy(*model, output.readout, target, 0).nll.sum().item<double>();
  double sum = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceBatch one_source =
        make_source_batch({sources[i]}, reference.config.attend_end, torch::kCPU);
    const TargetBatch one_target = make_target_batch({targets[i]}, torch::kCPU);
    const DecoderOutput one = model->forward(one_source, one_target);
    sum += cross_entropy(*model, one.readout, one_target, 0).nll.sum().item<double>();
    const int64_t len = one.alpha.size(1), source_len = one.alpha.size(2);
    EXPECT_LT(
        difference(one.alpha[0], output.alpha[static_cast<int64_t>(i)].narrow(0, 0, len).narrow(
                                     1, 0, source_len)),
        kTolerance);
  }
  EXPECT_NEAR(sum, whole, kTolerance * whole);
}

INSTANTIATE_TEST_SUITE_P(All, ModelReference, testing::ValuesIn(test::reference_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace verso
