#pragma once

#include <cstdint>
#include <string>

#include "config/config.h"
#include "nn/torch_api.h"

/// The machine as the program uses it: the one place that sets threads and picks the device.
namespace verso {

/// Physical cores that this process may run on (hyper-threads of a core count once, affinity and
/// container quota are honoured); at least 1.
[[nodiscard]] int64_t physical_cores();

/// Sets LibTorch's and OpenMP's (hence OpenBLAS') threads: `threads`, or for 0 what OMP_NUM_THREADS
/// says, or physical_cores(). Returns the number set. LibTorch's own default is never relied on
/// (Debian's starts with one).
int64_t set_threads(int64_t threads);

/// The device to compute on. Device::kCuda without a usable one throws UsageError that says why;
/// Device::kAuto takes CUDA where there is one.
[[nodiscard]] torch::Device choose_device(Device device);

/// Seeds every LibTorch generator.
void seed_generators(std::uint64_t seed);

/// State of LibTorch's default generators (CPU, and CUDA where used), to save and to restore.
[[nodiscard]] Tensor generator_state(const torch::Device& device);
void set_generator_state(const torch::Device& device, const Tensor& state);

/// True for the errors LibTorch and the allocator raise when memory runs out.
[[nodiscard]] bool is_out_of_memory(const std::exception& error);

}  // namespace verso
