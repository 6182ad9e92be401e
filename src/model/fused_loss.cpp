#include "model/fused_loss.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "nn/gemm.h"
#include "nn/row_kernels.h"

namespace verso {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kChunk = 512;  // tokens: enough for full products, few enough for the cache

/// Sums the columns of rows [rows, width] onto out.
void add_columns(int64_t rows, int64_t width, const float* matrix, float* out) {
  const std::vector<float> ones(static_cast<std::size_t>(rows), 1.0F);
  constexpr int64_t kColumns = 512;
  at::parallel_for(0, (width + kColumns - 1) / kColumns, 1, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kColumns, last = std::min(width, end * kColumns);
    add_weighted_rows(rows, last - first, ones.data(), matrix + first, width, out + first);
  });
}

/// Gradients are those of objective / tokens: what training asks for, so that nothing has to be
/// scaled afterwards.
class CrossEntropyLoss : public torch::autograd::Function<CrossEntropyLoss> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& readout,
                               const Tensor& weight, const Tensor& bias, const Tensor& target,
                               double eps, bool differentiate) {
    const int64_t tokens = readout.size(0), embed = readout.size(1), vocab = weight.size(0);
    const auto options = readout.options().requires_grad(false);
    Tensor nll = torch::empty({tokens}, options);
    Tensor objective = torch::empty({tokens}, options.dtype(torch::kFloat64));
    Tensor d_readout, d_weight, d_bias;
    if (differentiate) {
      d_readout = torch::empty({tokens, embed}, options);
      d_weight = torch::empty({vocab, embed}, options);
      d_bias = torch::zeros({vocab}, options);
    }
    Tensor chunk = torch::empty({std::min(kChunk, tokens), vocab}, options);
    float* const logits = chunk.data_ptr<float>();
    const float scale = differentiate ? 1.0F / static_cast<float>(tokens) : 0.0F;
    const auto* const words = target.data_ptr<int64_t>();
    for (int64_t first = 0; first < tokens; first += kChunk) {
      const int64_t rows = std::min(kChunk, tokens - first);
      const MatrixView part{readout.data_ptr<float>() + first * embed, embed};
      const MatrixView table{weight.data_ptr<float>(), embed};
      gemm(rows, vocab, embed, part, {table.data, embed, true}, 0.0F, logits, vocab);
      at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          float* const row = logits + r * vocab;
          add_to(vocab, bias.data_ptr<float>(), row);
          const CrossEntropy loss = cross_entropy_row(vocab, row, words[first + r], eps, scale);
          nll.data_ptr<float>()[first + r] = static_cast<float>(loss.nll);
          objective.data_ptr<double>()[first + r] = loss.objective;
        }
      });
      if (!differentiate) continue;
      gemm(rows, embed, vocab, {logits, vocab}, table, 0.0F,
           d_readout.data_ptr<float>() + first * embed, embed);
      gemm(vocab, embed, rows, {logits, vocab, true}, part, first == 0 ? 0.0F : 1.0F,
           d_weight.data_ptr<float>(), embed);
      add_columns(rows, vocab, logits, d_bias.data_ptr<float>());
    }
    context->save_for_backward({d_readout, d_weight, d_bias});
    context->mark_non_differentiable({nll});
    return {objective.sum().to(torch::kFloat), nll};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list d = context->get_saved_variables();
    const double factor = gradients[0].item<double>() * static_cast<double>(d[0].size(0));
    if (std::abs(factor - 1) > 1e-6) {
      for (Tensor& gradient : d) gradient = gradient * factor;
    }
    d.resize(6);
    return d;
  }
};

}  // namespace

FusedLoss fused_cross_entropy(const Tensor& readout, const Tensor& weight, const Tensor& bias,
                              const Tensor& target, double eps) {
  const bool differentiate =
      at::GradMode::is_enabled() && (readout.requires_grad() || weight.requires_grad());
  const variable_list out =
      CrossEntropyLoss::apply(readout.contiguous(), weight, bias, target, eps, differentiate);
  return {out[0], out[1]};
}

}  // namespace verso
