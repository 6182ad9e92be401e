#pragma once

/// LibTorch, included narrowly (<torch/torch.h> costs 15 s a file). Differences between LibTorch
/// 1.13 and the newest 2.x live here and nowhere else.

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>
#include <torch/version.h>

namespace verso {

using torch::Tensor;

/// Name of the device as people write it ("cpu", "cuda:0").
[[nodiscard]] inline std::string device_name(const torch::Device& device) { return device.str(); }

/// An allocator of CPU memory; LibTorch changed what one has to override in 2.3.
class PlainAllocator : public at::Allocator {
 public:
  [[nodiscard]] virtual at::DataPtr allocate_bytes(std::size_t bytes) const = 0;

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  at::DataPtr allocate(std::size_t bytes) override { return allocate_bytes(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
#else
  at::DataPtr allocate(std::size_t bytes) const override { return allocate_bytes(bytes); }
#endif
};

}  // namespace verso
