#pragma once

#include "nn/torch_api.h"

namespace verso {

struct FusedLoss {
  Tensor objective;  ///< scalar
  Tensor nll;        ///< [tokens], detached
};

/// Output layer and cross-entropy in one, as cross_entropy() of seq2seq.h computes them, in chunks
/// of tokens: the [tokens, vocab] matrix is never kept. Differentiable in readout, weight and bias;
/// with gradients wanted they are computed on the way forward. CPU, float.
///   readout [tokens, embed], weight [vocab, embed], bias [vocab], target [tokens] int64,
///   eps in [0, 1): label smoothing
[[nodiscard]] FusedLoss fused_cross_entropy(const Tensor& readout, const Tensor& weight,
                                            const Tensor& bias, const Tensor& target, double eps);

}  // namespace verso
