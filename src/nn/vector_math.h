#pragma once

#include <cstdint>

/// Elementary functions on rows of floats, vectorised for the CPU at hand (Highway, run-time
/// dispatch). Largest errors against double, over all floats (tests/nn/vector_math_test.cpp):
///   exp      2 ulp; 0 where the result is subnormal, infinity above 88.7228
///   sigmoid  2e-7 of the result for x >= -87.3; at most 2e-38 below
///   tanh     4 ulp
/// NaN gives NaN; infinities give the limits. in and out may be the same.
namespace verso {

void vector_exp(int64_t n, const float* in, float* out);
void vector_sigmoid(int64_t n, const float* in, float* out);
void vector_tanh(int64_t n, const float* in, float* out);

}  // namespace verso
