#include "train/gradient_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace verso {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

constexpr std::int64_t kTarget = 4, kSource = 5;  // tokens with end symbols

/// Gradients of no model, but as those of one are to each other.
AttentionGradients some_gradients() {
  torch::manual_seed(1);
  const auto random = [](std::int64_t rows, std::int64_t columns) {
    return torch::randn({rows, columns}, torch::kDouble);
  };
  AttentionGradients found;
  found.loss = 7.5;
  found.alpha = torch::softmax(random(kTarget, kSource), 1);
  found.g = random(kTarget, kSource);
  found.advantage = found.g - (found.alpha * found.g).sum(1, true);
  found.energy = found.alpha * found.advantage;
  found.context = random(kTarget, 6);
  found.value_path = random(kSource, 6);
  found.key_path = random(kSource, 6);
  found.start_path = random(kSource, 6);
  found.recurrent_path = random(kSource, 6);
  found.states = found.value_path + found.key_path + found.start_path + found.recurrent_path;
  found.v = torch::full({4}, 0.5, torch::kDouble);
  found.query_weight = torch::full({4, 4}, 0.25, torch::kDouble);
  found.key_weight = torch::full({4, 1}, 2.0, torch::kDouble);
  return found;
}

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor plain = tensor.contiguous();
  return {plain.data_ptr<double>(), plain.data_ptr<double>() + plain.numel()};
}

const PieceWords kSourceWords{{"a", "b", "c", "d"}, {0, 1, 2, 3}};
const PieceWords kTargetWords{{"x", "y", "z"}, {0, 1, 2}};

TEST(GradientRecord, OfOnePieceAWordHoldsTheNumbersOfTheEquations) {
  const AttentionGradients found = some_gradients();
  const GradientRecord record = gradient_record(found, kSourceWords, kTargetWords);
  EXPECT_EQ(record.loss, 7.5);
  EXPECT_EQ(record.target_tokens, 4);
  EXPECT_THAT(record.alpha, Pointwise(DoubleNear(1e-12), numbers(found.alpha)));
  EXPECT_THAT(record.g, Pointwise(DoubleNear(1e-12), numbers(found.g)));
  EXPECT_THAT(record.advantage, Pointwise(DoubleNear(1e-12), numbers(found.advantage)));
  EXPECT_THAT(record.context_gradient,
              Pointwise(DoubleNear(1e-12), numbers(found.context.norm(2, 1))));
  EXPECT_THAT(record.state_gradient,
              Pointwise(DoubleNear(1e-12), numbers(found.states.norm(2, 1))));
  EXPECT_NEAR(record.energy_gradient, 1, 1e-12);
  EXPECT_NEAR(record.query_gradient, 1, 1e-12);
  EXPECT_NEAR(record.key_gradient, 4, 1e-12);
  const Tensor log = found.alpha.log();
  EXPECT_NEAR(record.entropy, -(found.alpha * log).sum().item<double>() / 4, 1e-12);
}

TEST(GradientRecord, SharesAddUpToOne) {
  const GradientRecord record = gradient_record(some_gradients(), kSourceWords, kTargetWords);
  const auto sum = [](const PathShares& shares) {
    double all = 0;
    for (const double share : shares) all += share;
    return all;
  };
  for (const PathShares& shares : record.shares) EXPECT_NEAR(sum(shares), 1, 1e-12);
  EXPECT_NEAR(sum(whole_shares({record, record})), 1, 1e-12);
}

TEST(GradientRecord, OfWordsOfSeveralPiecesKeepsTheGradientOfTheEnergies) {
  const AttentionGradients found = some_gradients();
  // Source pieces 0 and 1 are one word, target pieces 1 and 2 another.
  const GradientRecord record =
      gradient_record(found, {{"ab", "c", "d"}, {0, 0, 1, 2}}, {{"x", "yz"}, {0, 1, 1}});
  ASSERT_EQ(record.rows(), 3U);
  ASSERT_EQ(record.columns(), 4U);
  const std::vector<double> alpha = numbers(found.alpha), energy = numbers(found.energy);
  const auto merged = [](const std::vector<double>& values, std::size_t first, std::size_t last) {
    double sum = 0;
    for (std::size_t t = first; t < last; ++t) {
      sum += (values[t * kSource] + values[t * kSource + 1]) / static_cast<double>(last - first);
    }
    return sum;
  };
  EXPECT_NEAR(record.alpha[0], merged(alpha, 0, 1), 1e-12);
  EXPECT_NEAR(record.alpha[4], merged(alpha, 1, 3), 1e-12);
  EXPECT_NEAR(record.alpha[4] * record.advantage[4], merged(energy, 1, 3), 1e-12);
  for (std::size_t row = 0; row < 3; ++row) {
    double mass = 0, balance = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      mass += record.alpha[row * 4 + j];
      balance += record.alpha[row * 4 + j] * record.advantage[row * 4 + j];
    }
    EXPECT_NEAR(mass, 1, 1e-12);
    EXPECT_NEAR(balance, 0, 1e-12);
  }
  const Tensor squares = (found.states * found.states).sum(1);
  EXPECT_NEAR(record.state_gradient[0],
              std::sqrt(squares[0].item<double>() + squares[1].item<double>()), 1e-12);
}

TEST(GradientRecord, IsAJsonObjectWithAllItsFields) {
  const GradientRecord record =
      gradient_record(some_gradients(), {{"\"", "b", "c", "d"}, {0, 1, 2, 3}}, kTargetWords);
  const auto json = nlohmann::json::parse("{" + json_fields(record) + "}");
  EXPECT_THAT(json["source"], ElementsAre("\"", "b", "c", "d"));
  EXPECT_EQ(json["source_end"], true);
  ASSERT_EQ(json["alpha"].size(), 4U);
  ASSERT_EQ(json["advantage"][3].size(), 5U);
  EXPECT_FLOAT_EQ(json["g"][1][2], static_cast<float>(record.g[7]));
  for (const char* key :
       {"state_gradient", "value_share", "key_share", "start_share", "recurrent_share"}) {
    EXPECT_EQ(json[key].size(), 5U) << key;
  }
  EXPECT_EQ(json["context_gradient"].size(), 4U);
  for (const char* key : {"loss", "entropy", "energy_gradient", "query_gradient", "key_gradient"}) {
    EXPECT_TRUE(json[key].is_number()) << key;
  }
}

TEST(GradientRecord, WritesNullForWhatIsNotFinite) {
  AttentionGradients found = some_gradients();
  found.g[0][0] = std::numeric_limits<double>::quiet_NaN();
  found.energy[0][0] = std::numeric_limits<double>::infinity();
  const GradientRecord record = gradient_record(found, kSourceWords, kTargetWords);
  const auto json = nlohmann::json::parse("{" + json_fields(record) + "}");
  EXPECT_TRUE(json["advantage"][0][0].is_null());
}

TEST(GradientRecord, OfNothingIsAnEmptyObject) {
  const auto json = nlohmann::json::parse("{" + json_fields({}) + "}");
  EXPECT_TRUE(json["alpha"].empty());
  EXPECT_EQ(json["source_end"], false);
}

TEST(GradientRecord, OfPiecesThatDoNotFitIsAnError) {
  EXPECT_THROW(static_cast<void>(gradient_record(some_gradients(), kTargetWords, kTargetWords)),
               ShapeError);
  EXPECT_THROW(
      static_cast<void>(gradient_record(some_gradients(), kSourceWords, {{"x"}, {0, 1, 0}})),
      ShapeError);
}

}  // namespace
}  // namespace verso
