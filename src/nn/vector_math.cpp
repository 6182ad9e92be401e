#include "nn/vector_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/vector_math.cpp"
#include <hwy/foreach_target.h>

#include "nn/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verso {
namespace HWY_NAMESPACE {

void exp_row(int64_t n, const float* in, float* out) {
  for_vectors(n, [&](int64_t i, auto part)
                     HWY_ATTR { part.store(exp_of(Floats(), part.load(in + i)), out + i); });
}

void sigmoid_row(int64_t n, const float* in, float* out) {
  for_vectors(n, [&](int64_t i, auto part)
                     HWY_ATTR { part.store(sigmoid_of(Floats(), part.load(in + i)), out + i); });
}

void tanh_row(int64_t n, const float* in, float* out) {
  for_vectors(n, [&](int64_t i, auto part)
                     HWY_ATTR { part.store(tanh_of(Floats(), part.load(in + i)), out + i); });
}

}  // namespace HWY_NAMESPACE
}  // namespace verso
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verso {

HWY_EXPORT(exp_row);
HWY_EXPORT(sigmoid_row);
HWY_EXPORT(tanh_row);

void vector_exp(int64_t n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(exp_row)(n, in, out);
}

void vector_sigmoid(int64_t n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(sigmoid_row)(n, in, out);
}

void vector_tanh(int64_t n, const float* in, float* out) {
  HWY_DYNAMIC_DISPATCH(tanh_row)(n, in, out);
}

}  // namespace verso
#endif
