#pragma once

/// LibTorch, included narrowly (<torch/torch.h> costs 15 s a file). Differences between LibTorch
/// 1.13 and the newest 2.x live here and nowhere else.

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/version.h>

namespace verso {

using torch::Tensor;

/// Name of the device as people write it ("cpu", "cuda:0").
[[nodiscard]] inline std::string device_name(const torch::Device& device) { return device.str(); }

}  // namespace verso
