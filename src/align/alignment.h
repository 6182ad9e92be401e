#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// How the end symbol is shown where it has a row or a column.
inline constexpr std::string_view kEndLabel = "</s>";

/// The attention of one pair, over tokens as they are shown: words or pieces.
/// weights [target_rows, source_columns], row-major: row t says where the model looked when it made
/// target token t. A row over all columns, the end's included, sums to 1 when it comes from the
/// model's softmax; without the end column it sums to at most 1 (nothing is renormalised).
struct SoftAlignment {
  std::vector<std::string> source = {};  ///< tokens without the end symbol
  std::vector<std::string> target = {};
  bool source_end = false;  ///< the last column is the source's end symbol
  bool target_end = false;  ///< the last row is the target's end symbol
  std::vector<float> weights = {};
  double score = 0;  ///< log probability of the target, end symbol included

  [[nodiscard]] std::int64_t source_columns() const {
    return static_cast<std::int64_t>(source.size()) + source_end;
  }
  [[nodiscard]] std::int64_t target_rows() const {
    return static_cast<std::int64_t>(target.size()) + target_end;
  }
  /// REQUIRES row and column in range.
  [[nodiscard]] float at(std::int64_t row, std::int64_t column) const {
    return weights[static_cast<std::size_t>(row * source_columns() + column)];
  }
};

/// Throws ShapeError when the number of weights is not target_rows * source_columns, NumericError
/// when one is not finite. Everything that writes an alignment calls it.
void check_alignment(const SoftAlignment& alignment);

/// The same without the end symbols' row and column.
[[nodiscard]] SoftAlignment without_ends(const SoftAlignment& alignment);

/// The words of a line and the pieces they were cut into.
struct PieceWords {
  std::vector<std::string> words;     ///< white-space tokens of the line as given
  std::vector<std::int32_t> word_of;  ///< [pieces], index into words; -1 for a piece of no word
};

/// Attention between pieces made attention between words: a word pair takes the sum over the source
/// word's pieces of the mean over the target word's pieces, so that rows keep their sum. End
/// symbols count as words of one piece. A word without pieces gets zeros. weights [target pieces +
/// target_end, source pieces + source_end], row-major. Throws ShapeError when sizes do not fit or
/// an index is past its words.
[[nodiscard]] SoftAlignment merge_pieces(std::span<const float> weights, const PieceWords& source,
                                         bool source_end, const PieceWords& target, bool target_end,
                                         double score = 0);

}  // namespace verso
