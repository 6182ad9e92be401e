#pragma once

#include <torch/nn/modules/linear.h>

#include "nn/torch_api.h"
#include "nn/trace.h"

namespace verso {

/// What attention gives for each query.
struct AttentionOutput {
  Tensor context;  ///< [batch, queries, 2*hidden], sum_j alpha_j h_j
  Tensor alpha;    ///< [batch, queries, source_len], rows sum to 1, exactly 0 where masked
};

/// Additive attention, Bahdanau et al. 2015 (arXiv:1409.0473), A.1.2:
///   e[b,q,j]     = v . tanh(W query[b,q] + U h[b,j] + bias)
///   alpha[b,q,:] = softmax over real positions j of e[b,q,:]
///   context[b,q] = sum_j alpha[b,q,j] h[b,j]
/// Parameters: query.weight W [attention, hidden], key.weight U [attention, 2*hidden], key.bias
/// [attention], energy v [attention].
/// Queries share their sentence's keys: training asks with one query a sentence and step, beam
/// search with one for each hypothesis. No state between calls.
class BahdanauAttentionImpl : public torch::nn::Module {
 public:
  BahdanauAttentionImpl(int64_t hidden, int64_t attention);

  /// U h + bias, once a sentence.
  ///   states [batch, source_len, 2*hidden] -> keys [batch, source_len, attention]
  [[nodiscard]] Tensor project_keys(const Tensor& states) const;

  /// W query, for queries known before the recurrence runs or one step's.
  ///   query [..., hidden] -> [..., attention]
  [[nodiscard]] Tensor project_query(const Tensor& query) const;

  /// query [batch, queries, attention] from project_query(); states and keys as above;
  /// mask [batch, source_len] bool, true = attended position. REQUIRES one true a row.
  /// Throws ShapeError.
  [[nodiscard]] AttentionOutput forward(const Tensor& query, const Tensor& states,
                                        const Tensor& keys, const Tensor& mask,
                                        Trace* trace = nullptr) const;

  [[nodiscard]] const Tensor& query_weight() const { return query_->weight; }
  [[nodiscard]] const Tensor& energy() const { return energy_; }

 private:
  int64_t hidden_, attention_;
  torch::nn::Linear query_{nullptr}, key_{nullptr};
  Tensor energy_;
};
TORCH_MODULE(BahdanauAttention);

}  // namespace verso
