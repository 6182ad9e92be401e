#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// The matrix library that LibTorch computes with in this process, and what it is worth. On the
/// machines measured, reference BLAS runs at a ninetieth and a wrongly picked OpenBLAS kernel at a
/// sixth of the rate of the right one, silently.
namespace verso {

struct BlasInfo {
  std::vector<std::string> libraries;  ///< BLAS files mapped into this process
  std::string openblas_core;           ///< kernel OpenBLAS picked ("Haswell"); "" without OpenBLAS
  std::string openblas_config;         ///< its version and build options
  bool openblas_openmp = false;        ///< threads shared with LibTorch's
};

[[nodiscard]] BlasInfo blas_info();

/// The OPENBLAS_CORETYPE that would suit this CPU when OpenBLAS picked an older kernel than the CPU
/// can run; "" when its choice is right or there is no OpenBLAS.
[[nodiscard]] std::string better_openblas_core(const BlasInfo& info);

/// OpenBLAS reads the name of its kernel once, when it is loaded. When there is a better one, the
/// program starts itself again with OPENBLAS_CORETYPE set; a user's own setting is respected. To be
/// called first in main.
void choose_blas_kernel(char** argv);

/// Rate of float products of n x n matrices in GFLOP/s with the present threads: the best of a few
/// within about `seconds`.
[[nodiscard]] double measure_sgemm(std::int64_t n, double seconds);

/// What stands in the way of speed on this machine, each with its remedy; empty when nothing does.
/// Measures for a fraction of a second.
[[nodiscard]] std::vector<std::string> speed_problems();

}  // namespace verso
