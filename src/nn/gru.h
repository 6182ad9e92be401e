#pragma once

#include "config/config.h"
#include "nn/fused_gru.h"
#include "nn/torch_api.h"

namespace verso {

/// Gated recurrent unit (Cho et al. 2014, arXiv:1406.1078) with LibTorch's and cuDNN's gate order
/// and convention: reset gate r, update gate z, candidate n; z keeps the OLD state.
///   r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
///   z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
///   n  = tanh(W_in x + b_in + r * (W_hn h + b_hn))      GruVariant::kResetAfter (torch::nn::GRU)
///   n  = tanh(W_in x + b_in + W_hn (r * h) + b_hn)      GruVariant::kResetBefore (Bahdanau et al.
///                                                       2015, A.1.1, where z weights the new
///                                                       state)
///   h' = (1 - z) * n + z * h
/// With layer normalisation each gate's two products are normalised over `hidden` on their own and
/// scaled by a gain before the bias is added: W_i. x becomes gain_i. * norm(W_i. x), W_h. h
/// likewise.
///
/// Parameters: weight_ih [3*hidden, input], weight_hh [3*hidden, hidden], bias_ih and bias_hh
/// [3*hidden], rows in order r, z, n; gain_ih and gain_hh [3*hidden] with layer normalisation.
/// No state between calls.
class GruCellImpl : public torch::nn::Module {
 public:
  GruCellImpl(int64_t input, int64_t hidden, GruVariant variant, bool layer_norm);

  /// W_ih[:, first : first + width(x)] x.
  ///   x [..., width] -> [..., 3*hidden]
  /// Inputs that are known for all time steps are multiplied once for all; products of parts of a
  /// concatenated input add up.
  [[nodiscard]] Tensor input_product(const Tensor& x, int64_t first = 0) const;

  /// What the gates get from the input: norm and gain (if any) and bias on a full input product.
  ///   product [..., 3*hidden] -> [..., 3*hidden]
  [[nodiscard]] Tensor input_gates(const Tensor& product) const;

  /// The same for a whole input [..., input]: input_gates(input_product(x)).
  [[nodiscard]] Tensor gates(const Tensor& x) const;

  /// One step.
  ///   gates       [rows, 3*hidden]  from input_gates()
  ///   state       [rows, hidden]
  ///   state_mask  [rows, hidden] or undefined: dropout on what W_hh reads, already scaled
  ///   -> new state [rows, hidden]
  [[nodiscard]] Tensor step(const Tensor& gates, const Tensor& state,
                            const Tensor& state_mask) const;

  /// What the fused kernels read; `mask` as state_mask of step().
  [[nodiscard]] GruWeights recurrent(const Tensor& mask) const {
    return {weight_hh_, bias_hh_, gain_hh_, mask};
  }
  [[nodiscard]] const Tensor& input_weight() const { return weight_ih_; }
  [[nodiscard]] const Tensor& input_bias() const { return bias_ih_; }
  [[nodiscard]] const Tensor& input_gain() const { return gain_ih_; }
  [[nodiscard]] int64_t hidden() const { return hidden_; }

 private:
  int64_t input_, hidden_;
  GruVariant variant_;
  bool layer_norm_;
  Tensor weight_ih_, weight_hh_, bias_ih_, bias_hh_, gain_ih_, gain_hh_;
};
TORCH_MODULE(GruCell);

}  // namespace verso
