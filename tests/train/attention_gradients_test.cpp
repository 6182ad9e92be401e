#include "train/attention_gradients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <functional>

#include "base/error.h"
#include "base/random.h"
#include "nn/runtime.h"

// The equations of attention's gradients against autograd in both precisions, against finite
// differences in double, and against each other, over random models and pairs.
namespace verso {
namespace {

struct Case {
  std::string name;
  std::function<void(ModelConfig&)> change;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }

using Ids = std::vector<std::int32_t>;

constexpr std::int32_t kWords = 12;

Seq2Seq random_model(const ModelConfig& config, std::uint64_t seed, torch::Dtype type) {
  ModelSpec spec;
  spec.source_vocab = spec.target_vocab = kWords;
  spec.model = config;
  torch::manual_seed(seed);
  Seq2Seq model(spec);
  torch::NoGradGuard no_grad;
  // Biases and gains are not left at what they begin with, and energies are large enough for
  // attention that is anything but even.
  for (Tensor& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter), 0.3);
  model->to(type);
  return model;
}

Ids random_ids(Random& random, std::uint64_t longest) {
  Ids ids(1 + random.below(longest));
  for (std::int32_t& id : ids) id = static_cast<std::int32_t>(4 + random.below(kWords - 4));
  return ids;
}

double largest(const std::vector<Difference>& differences) {
  double most = 0;
  for (const Difference& difference : differences) most = std::max(most, difference.relative);
  return most;
}

std::string named(const std::vector<Difference>& differences) {
  std::ostringstream out;
  for (const Difference& difference : differences) {
    out << difference.gradient << " " << difference.relative << "\n";
  }
  return out.str();
}

class AttentionGradientsOf : public testing::TestWithParam<Case> {
 protected:
  static ModelConfig config() {
    ModelConfig config;
    config.embed = 5;
    config.hidden = 6;
    config.attention = 7;
    GetParam().change(config);
    return config;
  }
};

TEST_P(AttentionGradientsOf, EqualAutogradInDouble) {
  Random random(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Seq2Seq model = random_model(config(), seed, torch::kDouble);
    const auto found = attention_gradients(model, random_ids(random, 9), random_ids(random, 9));
    EXPECT_LE(largest(found.differences), 1e-10) << seed << "\n" << named(found.differences);
  }
}

// Where attention is all but certain its gradients are differences of nearly equal numbers, of
// which float leaves few digits whichever way they are made: models here are less certain than in
// double.
TEST_P(AttentionGradientsOf, EqualAutogradInFloat) {
  Random random(2);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Seq2Seq model = random_model(config(), seed, torch::kFloat);
    const auto found = attention_gradients(model, random_ids(random, 9), random_ids(random, 9));
    EXPECT_LE(largest(found.differences), 1e-5) << seed << "\n" << named(found.differences);
  }
}

TEST_P(AttentionGradientsOf, EqualFiniteDifferences) {
  Random random(3);
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Seq2Seq model = random_model(config(), seed, torch::kDouble);
    const Ids source = random_ids(random, 6), target = random_ids(random, 6);
    const auto found = attention_gradients(model, source, target);
    const auto differences = finite_differences(model, source, target, found, seed);
    EXPECT_EQ(differences.size(), 10U);
    EXPECT_LE(largest(differences), 1e-6) << seed << "\n" << named(differences);
  }
}

TEST_P(AttentionGradientsOf, PathsAddUpToTheWholeGradient) {
  Seq2Seq model = random_model(config(), 4, torch::kDouble);
  const auto found = attention_gradients(model, Ids{4, 5, 6, 7, 8}, Ids{9, 8, 7});
  const Tensor sum = found.value_path + found.key_path + found.start_path + found.recurrent_path;
  EXPECT_TRUE(torch::allclose(sum, found.states, 1e-12, 0));
  for (const Tensor& path :
       {found.value_path, found.key_path, found.start_path, found.recurrent_path}) {
    EXPECT_GT(path.abs().max().item<double>(), 0);
  }
}

TEST_P(AttentionGradientsOf, LeaveTheNetworkAsItWas) {
  Seq2Seq model = random_model(config(), 5, torch::kFloat);
  model->train();
  model->use_kernels(Kernels::kAuto);
  std::vector<Tensor> before;
  for (const Tensor& parameter : model->parameters()) before.push_back(parameter.clone());
  const Tensor generator = generator_state(torch::kCPU);
  static_cast<void>(attention_gradients(model, Ids{4, 5}, Ids{6}));
  EXPECT_TRUE(model->is_training());
  EXPECT_EQ(model->spec().kernels, Kernels::kAuto);
  EXPECT_TRUE(torch::equal(generator, generator_state(torch::kCPU)));
  std::size_t i = 0;
  for (const Tensor& parameter : model->parameters()) {
    EXPECT_TRUE(torch::equal(parameter, before[i++]));
    EXPECT_FALSE(parameter.grad().defined());
  }
}

// With v = 0 energies say nothing: attention cannot be anything but even, and what v multiplies
// learns nothing until v itself has moved.
TEST_P(AttentionGradientsOf, WithoutEnergyTeachNothingButEnergy) {
  Seq2Seq model = random_model(config(), 6, torch::kFloat);
  {
    torch::NoGradGuard no_grad;
    model->named_parameters()["decoder.attention.energy"].zero_();
  }
  const auto found = attention_gradients(model, Ids{4, 5, 6, 7, 8, 9}, Ids{9, 8, 7});
  const std::int64_t attended = config().attend_end ? 7 : 6;
  EXPECT_TRUE(torch::equal(found.alpha.narrow(1, 0, attended),
                           torch::full({4, attended}, 1.0F / static_cast<float>(attended))));
  EXPECT_EQ(found.query_weight.abs().max().item<double>(), 0);
  EXPECT_EQ(found.key_weight.abs().max().item<double>(), 0);
  EXPECT_EQ(found.key_path.abs().max().item<double>(), 0);
  EXPECT_GT(found.v.abs().max().item<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, AttentionGradientsOf,
    testing::Values(
        Case{"conditional", [](ModelConfig&) {}},
        Case{"rnnsearch",
             [](ModelConfig& m) {
               m.decoder = {DecoderKind::kRnnsearch, DecoderStart::kBackward, Readout::kMaxout};
               m.tie = Tie::kNone;
             }},
        Case{"conditional_from_mean",
             [](ModelConfig& m) { m.decoder.start = DecoderStart::kMean; }},
        Case{"rnnsearch_of_the_paper",
             [](ModelConfig& m) {
               m.decoder = {DecoderKind::kRnnsearch, DecoderStart::kMean, Readout::kMaxout};
               m.gru = GruVariant::kResetBefore;
             }},
        Case{"layers_and_layer_norm",
             [](ModelConfig& m) {
               m.encoder.layers = 2;
               m.layer_norm = true;
             }},
        Case{"end_not_attended", [](ModelConfig& m) { m.attend_end = false; }}),
    [](const auto& info) { return info.param.name; });

TEST(AttentionGradients, OfACopyInDoubleAreThoseOfTheFloatNetworkToRounding) {
  ModelConfig config;
  config.embed = config.hidden = config.attention = 8;
  Seq2Seq model = random_model(config, 7, torch::kFloat);
  Seq2Seq copy = in_double(model);
  const auto found = attention_gradients(model, Ids{4, 5, 6}, Ids{7, 8});
  const auto exact = attention_gradients(copy, Ids{4, 5, 6}, Ids{7, 8});
  EXPECT_EQ(exact.g.scalar_type(), torch::kDouble);
  EXPECT_NEAR(found.loss, exact.loss, 1e-4);
  EXPECT_TRUE(torch::allclose(found.g.to(torch::kDouble), exact.g, 1e-4, 1e-5));
}

TEST(AttentionGradients, OfAPairWithoutAnythingToAttendToAreAnError) {
  ModelConfig config;
  config.embed = config.hidden = config.attention = 4;
  config.attend_end = false;
  Seq2Seq model = random_model(config, 8, torch::kFloat);
  EXPECT_THROW(static_cast<void>(attention_gradients(model, Ids{}, Ids{4})), ShapeError);
  EXPECT_EQ(model->spec().kernels, Kernels::kAuto);
}

}  // namespace
}  // namespace verso
