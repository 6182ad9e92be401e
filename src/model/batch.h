#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/packed.h"
#include "nn/torch_api.h"

namespace verso {

/// Source sentences as tensors. Tokens of a sentence: its ids, then the end symbol. Packed: all
/// sentences one after another, real tokens only; padded: a row of the longest length for each.
struct SourceBatch {
  Packed packed;
  Tensor ids;        ///< [tokens] int64, packed
  Tensor positions;  ///< [tokens] int64: row*source_len + j, where each token is when padded
  Tensor mask;       ///< [batch, source_len] bool, true = position attention may see
  std::vector<int64_t> attended;  ///< [batch] positions attention may see, from the first on
};

/// Target sentences for teacher forcing, packed.
struct TargetBatch {
  Packed packed;     ///< lengths with the end symbol
  Tensor input;      ///< [tokens] int64: begin symbol, y_1 … y_m of each sentence
  Tensor output;     ///< [tokens] int64: y_1 … y_m, end symbol
  Tensor positions;  ///< [tokens] int64: row*target_len + step
};

/// `sentences` hold ids without begin and end symbols. With `attend_end` false the end symbol's
/// position is not attended to. Throws ShapeError when there is no sentence, or when attention
/// would see nothing (an empty sentence without its end symbol).
[[nodiscard]] SourceBatch make_source_batch(
    const std::vector<std::span<const std::int32_t>>& sentences, bool attend_end,
    const torch::Device& device);
[[nodiscard]] TargetBatch make_target_batch(
    const std::vector<std::span<const std::int32_t>>& sentences, const torch::Device& device);

/// packed [tokens, width] -> [batch, longest, width], zeros where there is no token.
[[nodiscard]] Tensor pad(const Tensor& tokens, const Packed& packed, const Tensor& positions);

/// padded [batch, longest, width] -> [tokens, width].
[[nodiscard]] Tensor unpad(const Tensor& padded, const Tensor& positions);

}  // namespace verso
