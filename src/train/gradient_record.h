#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "align/alignment.h"
#include "train/attention_gradients.h"

namespace verso {

/// Ways by which the gradient reaches an encoder state, see train/attention_gradients.h.
inline constexpr std::array<std::string_view, 4> kPathNames = {"value", "key", "start",
                                                               "recurrent"};
/// A number for each of them.
using PathShares = std::array<double, kPathNames.size()>;

/// AttentionGradients of a pair over tokens as they are shown, words or pieces, end symbols last on
/// both sides. Several pieces that make a word become one row or column:
///   alpha              sum over source pieces, mean over target pieces (align/alignment.h)
///   alpha * advantage  likewise: dL/de of the word
///   advantage          dL/de over alpha; g = advantage + the mean of the rows' sum_k alpha_k g_k
///   norms              of all pieces' gradients together
/// so that for one piece a word the numbers are those of the equations. Empty where a side has no
/// token.
struct GradientRecord {
  std::vector<std::string> source, target;  ///< without the end symbols
  double loss = 0;                          ///< nats
  std::int64_t target_tokens = 0;           ///< pieces and the end symbol
  std::vector<double> alpha, g, advantage;  ///< [rows][columns], row-major
  std::vector<double> context_gradient;     ///< [rows], |dL/dc_t|
  std::vector<double> state_gradient;       ///< [columns], |dL/dh_j|
  /// [columns], each path's part of dL/dh_j along dL/dh_j: path . dL/dh_j / |dL/dh_j|². They add up
  /// to 1; one below 0 pulls against the whole. 0 where dL/dh_j is 0.
  std::vector<PathShares> shares;
  double entropy = 0;  ///< of alpha, mean over target tokens, nats
  double energy_gradient = 0, query_gradient = 0, key_gradient = 0;  ///< |dL/dv|, |dL/dW|, |dL/dU|

  [[nodiscard]] bool empty() const { return alpha.empty(); }
  [[nodiscard]] std::size_t rows() const { return target.size() + 1; }
  [[nodiscard]] std::size_t columns() const { return source.size() + 1; }
};

/// Throws ShapeError when pieces do not fit.
[[nodiscard]] GradientRecord gradient_record(const AttentionGradients& gradients,
                                             const PieceWords& source, const PieceWords& target);

/// The shares over the source tokens of all records together.
[[nodiscard]] PathShares whole_shares(const std::vector<GradientRecord>& records);

/// The fields of a record as those of a JSON object, without its braces: source, target,
/// source_end, target_end, loss, alpha, g, advantage, context_gradient, state_gradient,
/// value_share, key_share, start_share, recurrent_share, entropy, energy_gradient, query_gradient,
/// key_gradient. Matrices are [target][source]; source_end and target_end tell whether the last
/// column and row are those of end symbols. Numbers to the precision of float; null where not
/// finite.
[[nodiscard]] std::string json_fields(const GradientRecord& record);

}  // namespace verso
