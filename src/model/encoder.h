#pragma once

#include <vector>

#include "model/batch.h"
#include "nn/gru.h"
#include "nn/trace.h"

namespace verso {

/// Bidirectional GRU encoder, Bahdanau et al. 2015, A.1.1: h_j = [forward_j; backward_j], both
/// directions stopping at each sentence's true length (its end symbol, which is a position).
/// Layers from the second on add their input (residual).
/// Children: layer0.forward_gru, layer0.backward_gru, layer1.…
class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(const ModelConfig& config);

  /// embedded [tokens, embed], packed as in `source` -> states [tokens, 2*hidden].
  /// `fused`: by the fused kernels (CPU, float, reset-after); the same to rounding, but they show
  /// nothing to a trace.
  [[nodiscard]] Tensor forward(const Tensor& embedded, const SourceBatch& source, bool fused,
                               Trace* trace = nullptr);

 private:
  struct Layer {
    GruCell forward{nullptr}, backward{nullptr};
  };
  [[nodiscard]] Tensor run_generic(const Layer& layer, const Tensor& input,
                                   const SourceBatch& source, const Tensor& forward_mask,
                                   const Tensor& backward_mask, Trace* trace) const;

  std::vector<Layer> layers_;
  double state_dropout_;
};
TORCH_MODULE(Encoder);

}  // namespace verso
