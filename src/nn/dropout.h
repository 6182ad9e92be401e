#pragma once

#include "nn/torch_api.h"

namespace verso {

/// Inverted dropout (Srivastava et al. 2014): a mask [rows, width] of entries 0, with probability
/// p, or 1/(1-p); undefined when p is 0. One number drawn from LibTorch's default generator picks
/// the whole mask, entry by entry, whatever the number of threads.
[[nodiscard]] Tensor dropout_mask(double p, int64_t rows, int64_t width,
                                  const torch::TensorOptions& options);

/// x [rows, width] under such a mask; x itself when p is 0.
[[nodiscard]] Tensor dropout(const Tensor& x, double p);

}  // namespace verso
