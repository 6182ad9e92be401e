#pragma once

#include "nn/torch_api.h"

namespace verso {

/// Parameters of a GRU's recurrent side, as in GruCell; undefined: not there.
struct GruWeights {
  Tensor weight;  ///< weight_hh [3*hidden, hidden]
  Tensor bias;    ///< bias_hh [3*hidden]
  Tensor gain;    ///< gain_hh [3*hidden], with layer normalisation
  Tensor mask;    ///< [sentences, hidden], dropout on the state that weight reads
};

/// Autograd functions take no undefined tensors: an empty one stands for it on the way in.
[[nodiscard]] inline Tensor absent_as_empty(const Tensor& tensor) {
  return tensor.defined() ? tensor : torch::empty({0});
}
[[nodiscard]] inline Tensor empty_as_absent(const Tensor& tensor) {
  return tensor.defined() && tensor.numel() == 0 ? Tensor() : tensor;
}

/// Rows of one step: row r belongs to sentence[r] and to the token in row token[r] of the packed
/// matrices.
struct StepRows {
  int64_t count;
  const int64_t* token;
  const int64_t* sentence;
};

/// The recurrent side of a GRU (reset-after) over packed sentences, with its gradient: what the
/// fused encoder and decoder are made of. CPU, float. Steps of different sentences may run on
/// different threads at once; everything a step leaves for the gradient lies in rows of its tokens.
class FusedGru {
 public:
  /// Fresh, for a forward run over `tokens` tokens.
  FusedGru(const GruWeights& weights, int64_t tokens);
  /// From saved(), for the way back.
  FusedGru(const GruWeights& weights, const std::vector<Tensor>& saved);

  /// Floats of scratch that a step of `rows` rows needs.
  [[nodiscard]] int64_t scratch_size(int64_t rows) const { return 4 * hidden_ * rows; }

  /// state [count, hidden] becomes the next state.
  ///   ih [tokens, 3*hidden] what the input gives to the gates, without ih_bias [3*hidden]
  void forward(const StepRows& rows, const float* ih, const float* ih_bias, float* state,
               float* scratch);

  /// d_next [count, hidden], gradient of the next state, becomes that of the state.
  ///   d_ih [tokens, 3*hidden] out, rows of this step
  ///   d_norm [2, 3*hidden] gradients of gain and bias are added to (layer normalisation only)
  void backward(const StepRows& rows, float* d_next, float* d_ih, float* d_norm, float* scratch);

  /// What backward needs of forward.
  [[nodiscard]] std::vector<Tensor> saved() const;
  static constexpr std::size_t kSaved = 5;

  struct Gradients {
    Tensor weight, bias, gain;
  };
  /// After backward ran over all steps: one product over all tokens. d_norm [groups, 2, 3*hidden].
  [[nodiscard]] Gradients gradients(const Tensor& d_norm) const;

  [[nodiscard]] const Tensor& previous() const { return previous_; }  ///< [tokens, hidden] states
  [[nodiscard]] bool normalized() const { return weights_.gain.defined(); }

 private:
  GruWeights weights_;
  int64_t hidden_;
  Tensor turned_;    // weight transposed: BLAS reads it faster
  Tensor previous_;  // [tokens, hidden] state before the step
  Tensor read_;      // [tokens, hidden] what weight read: previous_ times mask; previous_ without
  Tensor gates_;     // [tokens, 4*hidden] see GruRow::saved
  Tensor normed_, inverse_;  // [tokens, 3*hidden], [tokens, 3]
  Tensor d_hh_;              // [tokens, 3*hidden] gradient of the state's product
};

}  // namespace verso
