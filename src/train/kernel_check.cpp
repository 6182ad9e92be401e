#include "train/kernel_check.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace verso {

void KernelCheck::expect(const torch::nn::Module& network, double loss) {
  expected_loss_ = loss;
  expected_.clear();
  for (Tensor parameter : network.parameters()) {
    expected_.push_back(parameter.grad());
    parameter.mutable_grad().reset();
  }
}

void KernelCheck::compare(const torch::nn::Module& network, double loss) {
  loss_ = std::max(loss_, std::abs(loss - expected_loss_) / std::abs(expected_loss_));
  std::size_t i = 0;
  for (const auto& item : network.named_parameters()) {
    const Tensor &expected = expected_[i++], &gradient = item.value().grad();
    if (!expected.defined() || !gradient.defined()) continue;
    const double size = expected.abs().max().item<double>();
    const double difference = (gradient - expected).abs().max().item<double>();
    const double relative = difference == 0 ? 0 : difference / size;
    if (relative <= gradient_) continue;
    gradient_ = relative;
    parameter_ = item.key();
  }
}

std::string KernelCheck::summary() {
  std::string text =
      cat("fused and generic kernels differ by at most ", loss_, " in the loss, ", gradient_,
          " in a gradient", parameter_.empty() ? "" : ", that of ", parameter_);
  loss_ = gradient_ = 0;
  parameter_.clear();
  return text;
}

}  // namespace verso
