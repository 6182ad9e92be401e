#pragma once

#include "nn/fused_gru.h"
#include "nn/packed.h"

namespace verso {

/// One direction of an encoder layer.
struct FusedRun {
  Tensor gates;  ///< [tokens, 3*hidden] what the input gives to the gates, biases included
  GruWeights weights;
};

/// Both directions over packed sentences -> states [tokens, 2*hidden], as EncoderImpl's generic
/// path computes them. Sentences leave the recurrence as they end; the directions, and groups of
/// sentences where there are more threads, run side by side. Differentiable; CPU, float.
[[nodiscard]] Tensor run_fused(const FusedRun& forward, const FusedRun& backward,
                               const Packed& packed);

}  // namespace verso
