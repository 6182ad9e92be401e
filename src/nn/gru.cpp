#include "nn/gru.h"

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {

/// Normalises each of the three gates of [..., 3*hidden] over hidden, then scales by gain
/// [3*hidden].
Tensor normalize_gates(const Tensor& product, const Tensor& gain, int64_t hidden) {
  auto shape = product.sizes().vec();
  shape.back() = 3;
  shape.push_back(hidden);
  const Tensor normed = at::layer_norm(product.reshape(shape), {hidden});
  return normed.reshape(product.sizes()) * gain;
}

}  // namespace

GruCellImpl::GruCellImpl(int64_t input, int64_t hidden, GruVariant variant, bool layer_norm)
    : input_(input), hidden_(hidden), variant_(variant), layer_norm_(layer_norm) {
  weight_ih_ = register_parameter("weight_ih", torch::empty({3 * hidden, input}));
  weight_hh_ = register_parameter("weight_hh", torch::empty({3 * hidden, hidden}));
  bias_ih_ = register_parameter("bias_ih", torch::zeros({3 * hidden}));
  bias_hh_ = register_parameter("bias_hh", torch::zeros({3 * hidden}));
  if (layer_norm_) {
    gain_ih_ = register_parameter("gain_ih", torch::ones({3 * hidden}));
    gain_hh_ = register_parameter("gain_hh", torch::ones({3 * hidden}));
  }
}

Tensor GruCellImpl::input_product(const Tensor& x, int64_t first) const {
  const int64_t width = x.size(-1);
  if (first + width > input_) {
    throw ShapeError(cat("gru input: columns ", first, " to ", first + width, " of ", input_));
  }
  return at::matmul(x, weight_ih_.narrow(1, first, width).t());
}

Tensor GruCellImpl::input_gates(const Tensor& product) const {
  return (layer_norm_ ? normalize_gates(product, gain_ih_, hidden_) : product) + bias_ih_;
}

Tensor GruCellImpl::gates(const Tensor& x) const {
  return layer_norm_ ? input_gates(input_product(x)) : at::linear(x, weight_ih_, bias_ih_);
}

Tensor GruCellImpl::step(const Tensor& gates, const Tensor& state, const Tensor& state_mask) const {
  const int64_t n = hidden_;
  const Tensor read = state_mask.defined() ? state * state_mask : state;
  const Tensor weight = weight_hh_.t();
  if (variant_ == GruVariant::kResetAfter) {
    const Tensor product = layer_norm_
                               ? normalize_gates(at::mm(read, weight), gain_hh_, n) + bias_hh_
                               : at::addmm(bias_hh_, read, weight);
    const Tensor rz = at::sigmoid(gates.narrow(1, 0, 2 * n) + product.narrow(1, 0, 2 * n));
    const Tensor candidate =
        at::tanh(gates.narrow(1, 2 * n, n) + rz.narrow(1, 0, n) * product.narrow(1, 2 * n, n));
    return at::lerp(candidate, state, rz.narrow(1, n, n));
  }
  // The paper's order needs r before the candidate's product, so normalisation is by part.
  const auto part = [&](const Tensor& x, int64_t first, int64_t width) {
    Tensor product = at::mm(x, weight.narrow(1, first, width));
    if (layer_norm_) {
      const Tensor normed = at::layer_norm(product.reshape({-1, width / n, n}), {n});
      product = normed.reshape({-1, width}) * gain_hh_.narrow(0, first, width);
    }
    return product + bias_hh_.narrow(0, first, width);
  };
  const Tensor rz = at::sigmoid(gates.narrow(1, 0, 2 * n) + part(read, 0, 2 * n));
  const Tensor candidate =
      at::tanh(gates.narrow(1, 2 * n, n) + part(rz.narrow(1, 0, n) * read, 2 * n, n));
  return at::lerp(candidate, state, rz.narrow(1, n, n));
}

}  // namespace verso
