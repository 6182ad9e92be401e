// exp, sigmoid and tanh on Highway vectors, for files that Highway compiles once for each kind of
// CPU (see vector_math.h for what they promise). No include guard but Highway's own: the file is
// read once a target.

#if defined(VERSO_VECTOR_MATH_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef VERSO_VECTOR_MATH_INL
#undef VERSO_VECTOR_MATH_INL
#else
#define VERSO_VECTOR_MATH_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace verso {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;

/// exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2, exp(r) by its series to r^7 (next term
/// 5e-9). ln 2 is taken in two parts so that r is exact. REQUIRES |x| <= 87.3 or NaN.
HWY_INLINE Vector exp_small(Floats d, Vector x) {
  const Vector n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504F)));
  const Vector high = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), x);
  const Vector r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), high);
  Vector p = hn::Set(d, 1.0F / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0F));
  const hn::RebindToSigned<Floats> di;
  const auto exponent = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  return hn::Mul(p, hn::BitCast(d, exponent));
}

HWY_INLINE Vector clamp(Floats d, Vector x, float most) {
  return hn::Min(hn::Max(x, hn::Set(d, -most)), hn::Set(d, most));
}

HWY_INLINE Vector keep_nan(Vector x, Vector result) {
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}

/// Overflows to infinity and underflows to 0 where float does, subnormal results apart (they are
/// 0).
HWY_INLINE Vector exp_of(Floats d, Vector x) {
  const Vector inside = exp_small(d, clamp(d, x, 87.3F));
  const Vector low = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.3F)), inside);
  // Between 87.3 and ln(largest float) = 88.72 two factors keep the exponent in range.
  const Vector half = exp_small(d, clamp(d, hn::Mul(x, hn::Set(d, 0.5F)), 44.4F));
  const Vector high = hn::Mul(half, half);
  const Vector infinite = hn::IfThenElse(hn::Gt(x, hn::Set(d, 88.7228F)), hn::Inf(d), high);
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, hn::Set(d, 87.3F)), infinite, low));
}

HWY_INLINE Vector sigmoid_of(Floats d, Vector x) {
  const Vector one = hn::Set(d, 1.0F);
  const Vector e = exp_small(d, clamp(d, hn::Neg(x), 87.3F));
  return keep_nan(x, hn::Div(one, hn::Add(one, e)));
}

/// (1 - t) / (1 + t) with t = exp(-2|x|); near 0, where 1 - t would lose digits, the series of tanh
/// to x^11.
HWY_INLINE Vector tanh_of(Floats d, Vector x) {
  const Vector one = hn::Set(d, 1.0F), size = hn::Abs(x);
  const Vector t = exp_small(d, hn::Mul(hn::Min(size, hn::Set(d, 10.0F)), hn::Set(d, -2.0F)));
  const Vector far = hn::CopySignToAbs(hn::Div(hn::Sub(one, t), hn::Add(one, t)), x);
  const Vector s = hn::Mul(x, x);
  Vector p = hn::Set(d, -1382.0F / 155925);
  p = hn::MulAdd(p, s, hn::Set(d, 62.0F / 2835));
  p = hn::MulAdd(p, s, hn::Set(d, -17.0F / 315));
  p = hn::MulAdd(p, s, hn::Set(d, 2.0F / 15));
  p = hn::MulAdd(p, s, hn::Set(d, -1.0F / 3));
  const Vector near = hn::MulAdd(hn::Mul(p, s), x, x);
  return keep_nan(x, hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.35F)), near, far));
}

}  // namespace HWY_NAMESPACE
}  // namespace verso
HWY_AFTER_NAMESPACE();

#endif
