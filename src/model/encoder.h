#pragma once

#include <vector>

#include "model/batch.h"
#include "nn/gru.h"

namespace verso {

/// Bidirectional GRU encoder, Bahdanau et al. 2015, A.1.1: h_j = [forward_j; backward_j], both
/// directions stopping at each sentence's true length (its end symbol, which is a position).
/// Layers from the second on add their input (residual).
/// Children: layer0.forward_gru, layer0.backward_gru, layer1.…
class EncoderImpl : public torch::nn::Module {
 public:
  EncoderImpl(const ModelConfig& config);

  /// embedded [batch, source_len, embed]; lengths as in SourceBatch
  /// -> states [batch, source_len, 2*hidden]; positions beyond a sentence's length hold finite
  ///    numbers without meaning (attention's mask leaves them out).
  [[nodiscard]] Tensor forward(const Tensor& embedded, const std::vector<int64_t>& lengths);

 private:
  struct Layer {
    GruCell forward{nullptr}, backward{nullptr};
  };
  std::vector<Layer> layers_;
  double state_dropout_;
};
TORCH_MODULE(Encoder);

}  // namespace verso
