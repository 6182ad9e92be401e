#include "nn/fused_gru.h"

#include <cstring>

#include "nn/gemm.h"
#include "nn/row_kernels.h"

namespace verso {

namespace {

void copy(int64_t n, const float* from, float* to) {
  std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(float));
}

float* pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

}  // namespace

FusedGru::FusedGru(const GruWeights& weights, int64_t tokens)
    : weights_(weights), hidden_(weights.weight.size(1)) {
  const auto options = weights.weight.options().requires_grad(false);
  turned_ = weights.weight.t().contiguous();
  previous_ = torch::empty({tokens, hidden_}, options);
  read_ = weights.mask.defined() ? torch::empty({tokens, hidden_}, options) : previous_;
  gates_ = torch::empty({tokens, 4 * hidden_}, options);
  if (!normalized()) return;
  normed_ = torch::empty({tokens, 3 * hidden_}, options);
  inverse_ = torch::empty({tokens, 3}, options);
}

FusedGru::FusedGru(const GruWeights& weights, const std::vector<Tensor>& saved)
    : weights_(weights),
      hidden_(weights.weight.size(1)),
      previous_(saved[0]),
      read_(saved[1]),
      gates_(saved[2]),
      normed_(saved[3]),
      inverse_(saved[4]),
      d_hh_(torch::empty({previous_.size(0), 3 * hidden_}, previous_.options())) {}

std::vector<Tensor> FusedGru::saved() const {
  return {previous_, read_, gates_, normed_, inverse_};
}

void FusedGru::forward(const StepRows& rows, const float* ih, const float* ih_bias, float* state,
                       float* scratch) {
  const int64_t n = hidden_;
  float* const previous = pointer(previous_);
  float* const read = pointer(read_);
  const float* const mask = pointer(weights_.mask);
  float* const hh = scratch;
  float* reading = state;
  if (mask != nullptr) {
    reading = scratch + 3 * n * rows.count;
    for (int64_t r = 0; r < rows.count; ++r) {
      multiply(n, state + r * n, mask + rows.sentence[r] * n, reading + r * n);
      copy(n, reading + r * n, read + rows.token[r] * n);
    }
  }
  gemm(rows.count, 3 * n, n, {reading, n}, {pointer(turned_), 3 * n}, 0.0F, hh, 3 * n);
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t token = rows.token[r];
    copy(n, state + r * n, previous + token * n);
    float* const product = hh + r * 3 * n;
    if (normalized()) {
      normalize_gates_row(n, product, pointer(weights_.gain), pointer(normed_) + token * 3 * n,
                          pointer(inverse_) + token * 3, product);
    }
    gru_row(n, {ih + token * 3 * n, ih_bias, product, pointer(weights_.bias), state + r * n,
                pointer(gates_) + token * 4 * n, state + r * n});
  }
}

void FusedGru::backward(const StepRows& rows, float* d_next, float* d_ih, float* d_norm,
                        float* scratch) {
  const int64_t n = hidden_;
  const float* const mask = pointer(weights_.mask);
  float* const kept = pointer(d_hh_);
  for (int64_t r = 0; r < rows.count; ++r) {
    const int64_t token = rows.token[r];
    float* const d_hh = scratch + r * 3 * n;
    gru_gradient_row(
        n, {d_next + r * n, pointer(gates_) + token * 4 * n, pointer(previous_) + token * n,
            d_ih + token * 3 * n, d_hh, d_next + r * n});
    if (normalized()) {
      normalize_gates_gradient_row(n, pointer(weights_.gain), pointer(normed_) + token * 3 * n,
                                   pointer(inverse_) + token * 3, d_hh, d_norm, d_norm + 3 * n);
    }
    copy(3 * n, d_hh, kept + token * 3 * n);
  }
  const MatrixView weight{pointer(weights_.weight), n};
  if (mask == nullptr) {
    gemm(rows.count, n, 3 * n, {scratch, 3 * n}, weight, 1.0F, d_next, n);
    return;
  }
  float* const d_read = scratch + 3 * n * rows.count;
  gemm(rows.count, n, 3 * n, {scratch, 3 * n}, weight, 0.0F, d_read, n);
  for (int64_t r = 0; r < rows.count; ++r) {
    add_product(n, d_read + r * n, mask + rows.sentence[r] * n, d_next + r * n);
  }
}

FusedGru::Gradients FusedGru::gradients(const Tensor& d_norm) const {
  const int64_t n = hidden_, tokens = previous_.size(0);
  Gradients d;
  d.weight = torch::empty({3 * n, n}, d_hh_.options());
  gemm(3 * n, n, tokens, {pointer(d_hh_), 3 * n, true}, {pointer(read_), n}, 0.0F,
       pointer(d.weight), n);
  if (normalized()) {
    const Tensor sums = d_norm.sum(0);
    d.gain = sums.select(0, 0).contiguous();
    d.bias = sums.select(0, 1).contiguous();
  } else {
    d.bias = d_hh_.sum(0);
  }
  return d;
}

}  // namespace verso
