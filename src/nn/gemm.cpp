#include "nn/gemm.h"

// Fortran's name: OpenBLAS and MKL have it, and LibTorch's packages export the one they use.
extern "C" void sgemm_(const char* transa, const char* transb, const int* m, const int* n,
                       const int* k, const float* alpha, const float* a, const int* lda,
                       const float* b, const int* ldb, const float* beta, float* c, const int* ldc);

namespace verso {

void gemm(int64_t m, int64_t n, int64_t k, MatrixView a, MatrixView b, float beta, float* c,
          int64_t stride_c) {
  if (m == 0 || n == 0) return;
  // Column-major BLAS sees every row-major matrix transposed: c' = b' a'.
  const char trans_a = a.transposed ? 'T' : 'N', trans_b = b.transposed ? 'T' : 'N';
  const int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(k);
  const int lda = static_cast<int>(a.stride), ldb = static_cast<int>(b.stride);
  const int ldc = static_cast<int>(stride_c);
  const float alpha = 1.0F;
  sgemm_(&trans_b, &trans_a, &rows, &columns, &inner, &alpha, b.data, &ldb, a.data, &lda, &beta, c,
         &ldc);
}

}  // namespace verso
