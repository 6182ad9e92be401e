#pragma once

#include <cstdint>

namespace verso {

/// A row-major float matrix inside a larger one: row r starts at data + r * stride.
struct MatrixView {
  const float* data = nullptr;
  int64_t stride = 0;
  bool transposed = false;  ///< read as its transpose
};

/// c = a b + beta c, by the BLAS that LibTorch uses.
///   a [m, k] and b [k, n] as read (a transposed view has its rows and columns swapped in memory),
///   c [m, n] with rows `stride_c` apart; beta 0 never reads c.
/// Inside a parallel region it runs on the calling thread alone; elsewhere on all.
void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, float beta, float* c,
          int64_t stride_c);

}  // namespace verso
