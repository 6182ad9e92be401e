#pragma once

#include <string>
#include <vector>

#include "nn/torch_api.h"

namespace verso {

/// `kernels: check`: both implementations make each update's loss and gradients from the same
/// dropout masks; what they differ by is kept.
class KernelCheck {
 public:
  /// After the generic pass: takes the parameters' gradients away.
  void expect(const torch::nn::Module& network, double loss);
  /// After the fused pass.
  void compare(const torch::nn::Module& network, double loss);

  /// Largest differences since the last call, for people: of the loss, relative; of a gradient,
  /// relative to its parameter's largest entry, with that parameter's name.
  [[nodiscard]] std::string summary();

 private:
  std::vector<Tensor> expected_;
  double expected_loss_ = 0, loss_ = 0, gradient_ = 0;
  std::string parameter_;
};

}  // namespace verso
