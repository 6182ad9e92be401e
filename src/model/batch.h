#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/torch_api.h"

namespace verso {

/// Source sentences as tensors. Each row: the ids, the end symbol, then padding.
struct SourceBatch {
  Tensor ids;                    ///< [batch, source_len] int64
  Tensor mask;                   ///< [batch, source_len] bool, true = position attention may see
  std::vector<int64_t> lengths;  ///< [batch] positions with the end symbol
};

/// Target sentences for teacher forcing.
struct TargetBatch {
  Tensor input;      ///< [batch, target_len] int64: begin symbol, y_1 … y_m, padding
  Tensor output;     ///< [tokens] int64: y_1 … y_m, end symbol of every row, real ones only
  Tensor positions;  ///< [tokens] int64: row*target_len + step of each real output token
  std::vector<int64_t> lengths;  ///< [batch] output tokens, the end symbol counted
};

/// `sentences` hold ids without begin and end symbols. With `attend_end` false the end symbol's
/// position is masked. Throws ShapeError when there is no sentence, or when attention would see
/// nothing (an empty sentence without its end symbol).
[[nodiscard]] SourceBatch make_source_batch(
    const std::vector<std::span<const std::int32_t>>& sentences, bool attend_end,
    const torch::Device& device);
[[nodiscard]] TargetBatch make_target_batch(
    const std::vector<std::span<const std::int32_t>>& sentences, const torch::Device& device);

}  // namespace verso
