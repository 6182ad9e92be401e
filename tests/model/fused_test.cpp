#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "base/error.h"
#include "base/random.h"
#include "model/seq2seq.h"

// The fused kernels, in float, against the generic ones in double: loss, attention, every gradient,
// and the steps of decoding, over odd sizes, lengths and options, on one thread and on two.
namespace verso {
namespace {

struct Case {
  const char* name;
  DecoderKind kind = DecoderKind::kRnnsearch;
  int64_t embed = 7, hidden = 9, attention = 5;
  std::vector<int64_t> source_lengths = {4, 1, 7, 3, 4};  // without the end symbol
  std::vector<int64_t> target_lengths = {5, 0, 2, 9, 5};
  bool layer_norm = false, dropout = false, attend_end = true;
  int64_t layers = 1;
  DecoderStart start = DecoderStart::kBackward;
  Readout readout = Readout::kMaxout;
  Tie tie = Tie::kNone;
  double smoothing = 0.0;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

std::vector<Case> cases() {
  const auto with = [](const char* name, const auto& change) {
    Case c{name};
    change(c);
    return c;
  };
  const auto conditional = [](Case& c) { c.kind = DecoderKind::kConditional; };
  return {
      with("rnnsearch", [](Case&) {}),
      with("conditional", conditional),
      with("normalised", [](Case& c) { c.layer_norm = true; }),
      with("conditional_normalised",
           [&](Case& c) {
             conditional(c);
             c.layer_norm = true;
           }),
      with("dropout", [](Case& c) { c.dropout = true; }),
      with("conditional_dropout_normalised",
           [&](Case& c) {
             conditional(c);
             c.dropout = c.layer_norm = true;
           }),
      with("end_not_attended", [](Case& c) { c.attend_end = false; }),
      with("three_layers", [](Case& c) { c.layers = 3; }),
      with("mean_start_tanh_tied_smoothed",
           [](Case& c) {
             c.start = DecoderStart::kMean;
             c.readout = Readout::kTanh;
             c.tie = Tie::kAll;
             c.smoothing = 0.1;
           }),
      with("one_sentence", [](Case& c) { c.source_lengths = {6}, c.target_lengths = {4}; }),
      with("one_token", [](Case& c) { c.source_lengths = {1}, c.target_lengths = {0}; }),
      with("size_one", [](Case& c) { c.embed = c.hidden = c.attention = 1; }),
      with("whole_vectors", [](Case& c) { c.embed = 32, c.hidden = 64, c.attention = 48; }),
      with("conditional_wide",
           [&](Case& c) {
             conditional(c);
             c.embed = 33, c.hidden = 67, c.attention = 129;
           }),
  };
}

constexpr int64_t kVocab = 23;

std::vector<std::vector<std::int32_t>> sentences(const std::vector<int64_t>& lengths,
                                                 std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<std::int32_t>> made;
  for (const int64_t length : lengths) {
    made.emplace_back();
    for (int64_t i = 0; i < length; ++i) {
      made.back().push_back(static_cast<std::int32_t>(4 + random.below(kVocab - 4)));
    }
  }
  return made;
}

std::vector<std::span<const std::int32_t>> spans(
    const std::vector<std::vector<std::int32_t>>& rows) {
  return {rows.begin(), rows.end()};
}

class Fused : public testing::TestWithParam<std::tuple<Case, int>> {
 protected:
  Fused() : c_(std::get<0>(GetParam())) {
    at::set_num_threads(std::get<1>(GetParam()));
    ModelSpec spec;
    spec.source_vocab = spec.target_vocab = kVocab;
    ModelConfig& model = spec.model;
    model.embed = c_.embed;
    model.hidden = c_.hidden;
    model.attention = c_.attention;
    model.decoder.kind = c_.kind;
    model.decoder.start = c_.start;
    model.decoder.readout = c_.readout;
    model.encoder.layers = c_.layers;
    model.layer_norm = c_.layer_norm;
    model.attend_end = c_.attend_end;
    model.tie = c_.tie;
    const double p = c_.dropout ? 0.3 : 0.0;
    model.dropout = {p, p, p, p, p, p};
    torch::manual_seed(11);
    fused_ = Seq2Seq(spec);
    fused_->use_kernels(Kernels::kFused);
    generic_ = Seq2Seq(spec);
    generic_->use_kernels(Kernels::kGeneric);
    generic_->to(torch::kFloat64);
    const torch::NoGradGuard no_grad;
    auto from = fused_->parameters(), to = generic_->parameters();
    for (std::size_t i = 0; i < from.size(); ++i) {
      from[i].add_(torch::randn_like(from[i]), 0.3);
      to[i].copy_(from[i]);
    }
    source_ids_ = sentences(c_.source_lengths, 1);
    target_ids_ = sentences(c_.target_lengths, 2);
    source_ = make_source_batch(spans(source_ids_), c_.attend_end, torch::kCPU);
    target_ = make_target_batch(spans(target_ids_), torch::kCPU);
  }
  ~Fused() override { at::set_num_threads(2); }

  struct Result {
    Loss loss;
    Tensor alpha;
  };
  /// The same dropout masks for both; alpha has a part in the objective, as guided alignment has.
  Result run(Seq2Seq& model) {
    torch::manual_seed(5);
    const DecoderOutput out = model->forward(source_, target_);
    Loss loss = cross_entropy(*model, out.readout, target_, c_.smoothing);
    torch::manual_seed(6);
    const Tensor pull = torch::randn(out.alpha.sizes(), torch::kFloat64).to(out.alpha.dtype());
    const Tensor objective = loss.objective / static_cast<double>(loss.tokens);
    // Beyond a sentence's end the generic rows mean nothing.
    const Tensor real = at::zeros({out.alpha.size(0) * out.alpha.size(1), 1}, out.alpha.options())
                            .index_fill(0, target_.positions, 1)
                            .view({out.alpha.size(0), out.alpha.size(1), 1});
    (objective + (out.alpha * pull * real).sum() * 0.1).backward();
    return {loss, (out.alpha * real).detach()};
  }

  static double difference(const Tensor& a, const Tensor& b) {
    const Tensor x = a.to(torch::kFloat64), y = b.to(torch::kFloat64);
    return ((x - y).abs().max() / (y.abs().max() + 1e-3)).item<double>();
  }

  const Case& c_;
  Seq2Seq fused_{nullptr}, generic_{nullptr};
  std::vector<std::vector<std::int32_t>> source_ids_, target_ids_;
  SourceBatch source_;
  TargetBatch target_;
};

constexpr double kTolerance = 1e-5;

TEST_P(Fused, LossAlphaAndEveryGradientMatchGeneric) {
  const Result got = run(fused_), expected = run(generic_);
  EXPECT_LT(difference(got.loss.objective, expected.loss.objective), kTolerance);
  EXPECT_LT(difference(got.loss.nll, expected.loss.nll), kTolerance);
  EXPECT_LT(difference(got.alpha, expected.alpha), kTolerance);
  const auto a = fused_->named_parameters(), b = generic_->named_parameters();
  for (const auto& item : a) {
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_LT(difference(item.value().grad(), b[item.key()].grad()), 2 * kTolerance) << item.key();
  }
}

TEST_P(Fused, EnergyOffsetsAndTheirGradientsMatchGeneric) {
  const auto found = [&](Seq2Seq& model) {
    torch::manual_seed(5);
    const auto sentences = static_cast<int64_t>(source_ids_.size());
    const Tensor offset =
        torch::randn({sentences, target_.packed.longest, source_.packed.longest}, torch::kFloat64)
            .to(model->output_bias().scalar_type())
            .requires_grad_(true);
    const DecoderOutput out = model->forward(source_, target_, nullptr, offset);
    const Loss loss = cross_entropy(*model, out.readout, target_, 0);
    return std::pair(loss.nll, torch::autograd::grad({loss.objective}, {offset})[0]);
  };
  const auto [got, got_gradient] = found(fused_);
  const auto [expected, expected_gradient] = found(generic_);
  EXPECT_LT(difference(got, expected), kTolerance);
  EXPECT_LT(difference(got_gradient, expected_gradient), 2 * kTolerance);
  EXPECT_GT(expected_gradient.abs().max().item<double>(), 1e-4);
}

TEST_P(Fused, WithoutGradientsTheLossIsTheSame) {
  fused_->eval();
  generic_->eval();
  const torch::NoGradGuard no_grad;
  const auto loss = [&](Seq2Seq& model) {
    return cross_entropy(*model, model->forward(source_, target_).readout, target_, c_.smoothing);
  };
  EXPECT_LT(difference(loss(fused_).nll, loss(generic_).nll), kTolerance);
}

TEST_P(Fused, StepsOfDecodingMatchGeneric) {
  fused_->eval();
  generic_->eval();
  const torch::NoGradGuard no_grad;
  // Three hypotheses of the first sentence, two of the next, then none, one, two, three …
  const auto sentences = [](int64_t batch) {
    std::vector<int64_t> rows;
    for (int64_t b = 0; b < batch; ++b) rows.insert(rows.end(), (7 - b) % 4, b);
    return rows;
  };
  Memory memory = fused_->encode(source_), expected_memory = generic_->encode(source_);
  std::vector<int64_t> rows = sentences(memory.start.size(0));
  Tensor index = torch::tensor(rows, torch::kInt64);
  Tensor state = memory.start.index_select(0, index);
  Tensor expected_state = expected_memory.start.index_select(0, index);
  for (int64_t t = 0; t < 4; ++t) {
    const Tensor words = torch::randint(4, kVocab, {state.size(0)}, torch::kInt64);
    const DecoderStep step = fused_->step(memory, {state, words, rows});
    const DecoderStep expected = generic_->step(expected_memory, {expected_state, words, rows});
    EXPECT_LT(difference(step.state, expected.state), kTolerance);
    EXPECT_LT(difference(step.readout, expected.readout), kTolerance);
    EXPECT_LT(difference(step.alpha, expected.alpha), kTolerance);
    state = step.state;
    expected_state = expected.state;
    if (t != 1 || source_ids_.size() == 1) continue;
    // Sentences leave, and the last becomes the first.
    const std::vector<int64_t> kept = {static_cast<int64_t>(source_ids_.size()) - 1, 1};
    memory = memory.select(kept);
    expected_memory = expected_memory.select(kept);
    rows = {0, 0, 1};
    index = torch::tensor({2, 0, 1}, torch::kInt64);
    state = state.index_select(0, index);
    expected_state = expected_state.index_select(0, index);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, Fused,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(1, 2)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "_" +
                                  std::to_string(std::get<1>(info.param)) + "_threads";
                         });

TEST(Kernels, FusedWhereTheyCannotRunIsAnError) {
  ModelSpec spec;
  spec.source_vocab = spec.target_vocab = kVocab;
  spec.model.embed = spec.model.hidden = spec.model.attention = 4;
  spec.kernels = Kernels::kFused;
  Seq2Seq model(spec);
  EXPECT_TRUE(model->fused());
  model->to(torch::kFloat64);
  EXPECT_THROW((void)model->fused(), ConfigError);
  model->use_kernels(Kernels::kAuto);
  EXPECT_FALSE(model->fused());
}

}  // namespace
}  // namespace verso
