#include "align/alignment.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"

namespace verso {
namespace {

TEST(MergePieces, SumsOverSourcePiecesAndAveragesOverTargetPieces) {
  // Source a|b b|</s>, target x x|y|</s>.
  const std::vector<float> weights = {0.5F, 0.2F, 0.2F,  0.1F,   //
                                      0.1F, 0.3F, 0.2F,  0.4F,   //
                                      0.0F, 0.5F, 0.25F, 0.25F,  //
                                      0.1F, 0.1F, 0.1F,  0.7F};
  const SoftAlignment merged =
      merge_pieces(weights, {{"a", "b"}, {0, 1, 1}}, true, {{"x", "y"}, {0, 0, 1}}, true, -1.5);
  EXPECT_EQ(merged.source, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(merged.target, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(merged.score, -1.5);
  const std::vector<float> expected = {0.3F, 0.45F, 0.25F,  //
                                       0.0F, 0.75F, 0.25F,  //
                                       0.1F, 0.2F,  0.7F};
  ASSERT_EQ(merged.weights.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(merged.weights[i], expected[i], 1e-6) << i;
  }
  const SoftAlignment words = without_ends(merged);
  EXPECT_EQ(words.weights.size(), 4U);
  EXPECT_FLOAT_EQ(words.at(1, 1), 0.75F);
  EXPECT_FALSE(words.source_end || words.target_end);
}

TEST(MergePieces, WordsWithoutPiecesGetZerosAndPiecesWithoutWordGoNowhere) {
  const std::vector<float> weights = {0.6F, 0.4F};
  const SoftAlignment merged =
      merge_pieces(weights, {{"a", "b"}, {1, -1}}, false, {{"x", "y"}, {1}}, false);
  EXPECT_EQ(merged.weights, (std::vector<float>{0, 0, 0, 0.6F}));
}

TEST(MergePieces, EmptySidesGiveEmptyMatrices) {
  const SoftAlignment merged = merge_pieces({}, {}, false, {}, false);
  EXPECT_EQ(merged.target_rows(), 0);
  EXPECT_TRUE(merged.weights.empty());
  check_alignment(merged);
}

TEST(MergePieces, SizesThatDoNotFitAreAnError) {
  const std::vector<float> weights = {1, 0};
  EXPECT_THROW((void)merge_pieces(weights, {{"a"}, {0}}, false, {{"x"}, {0}}, false), ShapeError);
  EXPECT_THROW((void)merge_pieces(weights, {{"a"}, {0, 1}}, false, {{"x"}, {0}}, false),
               ShapeError);
}

TEST(CheckAlignment, NamesWhatIsWrong) {
  SoftAlignment alignment{.source = {"a", "b"}, .target = {"x"}, .weights = {0.5F}};
  EXPECT_THROW(check_alignment(alignment), ShapeError);
  alignment.weights = {0.5F, std::numeric_limits<float>::quiet_NaN()};
  try {
    check_alignment(alignment);
    FAIL() << "accepted";
  } catch (const NumericError& error) {
    EXPECT_STREQ(error.what(),
                 "alignment weight of target token 0 and source token 1 is nan, expected a finite "
                 "number");
  }
}

RC_GTEST_PROP(MergePieces, RowsKeepTheirSum, ()) {
  const auto sizes = [](const char*) {
    return *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 4));
  };
  const auto words_of = [](const std::vector<int>& pieces_of_word) {
    PieceWords out;
    for (std::size_t word = 0; word < pieces_of_word.size(); ++word) {
      out.words.push_back("w");
      for (int i = 0; i < pieces_of_word[word]; ++i) {
        out.word_of.push_back(static_cast<std::int32_t>(word));
      }
    }
    return out;
  };
  const PieceWords source = words_of(sizes("source")), target = words_of(sizes("target"));
  const std::size_t columns = source.word_of.size() + 1, rows = target.word_of.size() + 1;
  std::vector<float> weights;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto raw = *rc::gen::container<std::vector<int>>(columns, rc::gen::inRange(1, 1000));
    const double sum = std::accumulate(raw.begin(), raw.end(), 0.0);
    for (const int value : raw) weights.push_back(static_cast<float>(value / sum));
  }
  const SoftAlignment merged = merge_pieces(weights, source, true, target, true);
  for (std::int64_t row = 0; row < merged.target_rows(); ++row) {
    double sum = 0;
    for (std::int64_t j = 0; j < merged.source_columns(); ++j) sum += merged.at(row, j);
    RC_ASSERT(std::abs(sum - 1) < 1e-5);
  }
}

}  // namespace
}  // namespace verso
