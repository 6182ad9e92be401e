// Loops over rows of floats on Highway vectors, the last partial vector included. Read once a
// target, like vector_math-inl.h.

#if defined(VERSO_VECTOR_LOOP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VERSO_VECTOR_LOOP_INL
#undef VERSO_VECTOR_LOOP_INL
#else
#define VERSO_VECTOR_LOOP_INL
#endif

#include <cstring>

#include "nn/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verso {
namespace HWY_NAMESPACE {

/// A whole vector of a row.
struct Whole {
  HWY_INLINE Vector load(const float* from) const { return hn::LoadU(Floats(), from); }
  HWY_INLINE void store(Vector value, float* to) const { hn::StoreU(value, Floats(), to); }
};

/// The last `count` floats of a row, by way of a buffer: nothing beyond them is touched. Lanes
/// beyond them load as 0.
struct Part {
  std::size_t count;
  HWY_INLINE Vector load(const float* from) const {
    HWY_ALIGN float buffer[hn::MaxLanes(Floats())] = {};
    std::memcpy(buffer, from, count * sizeof(float));
    return hn::Load(Floats(), buffer);
  }
  HWY_INLINE void store(Vector value, float* to) const {
    HWY_ALIGN float buffer[hn::MaxLanes(Floats())];
    hn::Store(value, Floats(), buffer);
    std::memcpy(to, buffer, count * sizeof(float));
  }
};

/// Calls body(i, part) for each vector of a row of n floats; part is Whole or Part.
template <class Body>
HWY_INLINE void for_vectors(int64_t n, const Body& body) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(i, Whole());
  if (i < n) body(i, Part{static_cast<std::size_t>(n - i)});
}

HWY_INLINE float sum_of(Vector v) { return hn::GetLane(hn::SumOfLanes(Floats(), v)); }
HWY_INLINE float max_of(Vector v) { return hn::GetLane(hn::MaxOfLanes(Floats(), v)); }

}  // namespace HWY_NAMESPACE
}  // namespace verso
HWY_AFTER_NAMESPACE();

#endif
