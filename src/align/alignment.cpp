#include "align/alignment.h"

#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

/// For each piece, the end symbol included, the row or column of the merged matrix, or -1.
std::vector<std::int64_t> places(const PieceWords& side, bool end, const char* name) {
  const auto words = static_cast<std::int64_t>(side.words.size());
  std::vector<std::int64_t> out;
  for (const std::int32_t word : side.word_of) {
    if (word < -1 || word >= words) {
      throw ShapeError(cat("merge_pieces: ", name, " piece ", out.size(), " is of word ", word,
                           ", but there are ", words, " words"));
    }
    out.push_back(word);
  }
  if (end) out.push_back(words);
  return out;
}

}  // namespace

void check_alignment(const SoftAlignment& alignment) {
  const std::int64_t rows = alignment.target_rows(), columns = alignment.source_columns();
  if (static_cast<std::int64_t>(alignment.weights.size()) != rows * columns) {
    throw ShapeError(cat("alignment has ", alignment.weights.size(), " weights, expected ", rows,
                         " x ", columns, " = ", rows * columns));
  }
  for (std::size_t i = 0; i < alignment.weights.size(); ++i) {
    if (!std::isfinite(alignment.weights[i])) {
      const auto at = static_cast<std::int64_t>(i);
      throw NumericError(cat("alignment weight of target token ", at / columns,
                             " and source token ", at % columns, " is ", alignment.weights[i],
                             ", expected a finite number"));
    }
  }
}

SoftAlignment without_ends(const SoftAlignment& alignment) {
  check_alignment(alignment);
  SoftAlignment out;
  out.source = alignment.source;
  out.target = alignment.target;
  out.score = alignment.score;
  out.weights.reserve(out.source.size() * out.target.size());
  for (std::int64_t row = 0; row < out.target_rows(); ++row) {
    for (std::int64_t column = 0; column < out.source_columns(); ++column) {
      out.weights.push_back(alignment.at(row, column));
    }
  }
  return out;
}

SoftAlignment merge_pieces(std::span<const float> weights, const PieceWords& source,
                           bool source_end, const PieceWords& target, bool target_end,
                           double score) {
  const std::vector<std::int64_t> columns = places(source, source_end, "source");
  const std::vector<std::int64_t> rows = places(target, target_end, "target");
  if (weights.size() != rows.size() * columns.size()) {
    throw ShapeError(cat("merge_pieces: ", weights.size(), " weights, expected ", rows.size(),
                         " target by ", columns.size(), " source pieces"));
  }
  SoftAlignment out;
  out.source = source.words;
  out.target = target.words;
  out.source_end = source_end;
  out.target_end = target_end;
  out.score = score;

  const auto merged_columns = static_cast<std::size_t>(out.source_columns());
  std::vector<double> sums(static_cast<std::size_t>(out.target_rows()) * merged_columns);
  std::vector<std::int64_t> pieces(static_cast<std::size_t>(out.target_rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    const auto row = static_cast<std::size_t>(rows[i]);
    ++pieces[row];
    for (std::size_t j = 0; j < columns.size(); ++j) {
      if (columns[j] < 0) continue;
      sums[row * merged_columns + static_cast<std::size_t>(columns[j])] +=
          weights[i * columns.size() + j];
    }
  }
  out.weights.resize(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::int64_t count = pieces[i / merged_columns];
    out.weights[i] = count == 0 ? 0.0F : static_cast<float>(sums[i] / static_cast<double>(count));
  }
  return out;
}

}  // namespace verso
