#include "nn/bahdanau_attention.h"

#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace verso {

BahdanauAttentionImpl::BahdanauAttentionImpl(int64_t hidden, int64_t attention)
    : hidden_(hidden), attention_(attention) {
  query_ = register_module(
      "query", torch::nn::Linear(torch::nn::LinearOptions(hidden, attention).bias(false)));
  key_ = register_module("key", torch::nn::Linear(2 * hidden, attention));
  energy_ = register_parameter("energy", torch::empty({attention}));
}

Tensor BahdanauAttentionImpl::project_keys(const Tensor& states) const {
  return at::linear(states, key_->weight, key_->bias);
}

Tensor BahdanauAttentionImpl::project_query(const Tensor& query) const {
  return at::linear(query, query_->weight);
}

AttentionOutput BahdanauAttentionImpl::forward(const Tensor& query, const Tensor& states,
                                               const Tensor& keys, const Tensor& mask,
                                               Trace* trace) const {
  if (query.dim() != 3 || query.size(2) != attention_ || states.size(2) != 2 * hidden_ ||
      keys.size(2) != attention_ || mask.sizes() != states.sizes().slice(0, 2) ||
      keys.sizes().slice(0, 2) != mask.sizes() || query.size(0) != mask.size(0)) {
    throw ShapeError(cat("attention: query ", query.sizes(), ", states ", states.sizes(), ", keys ",
                         keys.sizes(), ", mask ", mask.sizes()));
  }
  const Tensor energies = see(
      trace, Site::kEnergy, at::matmul(at::tanh(query.unsqueeze(2) + keys.unsqueeze(1)), energy_));
  const Tensor masked = energies.masked_fill(mask.logical_not().unsqueeze(1),
                                             -std::numeric_limits<double>::infinity());
  const Tensor alpha = see(trace, Site::kAlpha, at::softmax(masked, -1));
  return {see(trace, Site::kContext, at::bmm(alpha, states)), alpha};
}

}  // namespace verso
