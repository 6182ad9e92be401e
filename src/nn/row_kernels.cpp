#include "nn/row_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/row_kernels.cpp"
#include <hwy/foreach_target.h>

#include "nn/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace verso {
namespace HWY_NAMESPACE {

constexpr Floats kFloats;

HWY_INLINE Vector number(float x) { return hn::Set(kFloats, x); }

/// exp(x) for x <= 0, at least 1e-38: as good as 0 in a sum that holds exp(0).
HWY_INLINE Vector exp_falling(Vector x) {
  return keep_nan(x, exp_small(kFloats, hn::Max(x, number(-87.3F))));
}

void gru_row(int64_t n, const GruRow& row) {
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    const auto sum = [&](int64_t at) HWY_ATTR {
      return hn::Add(hn::Add(part.load(row.ih + at), part.load(row.ih_bias + at)),
                     hn::Add(part.load(row.hh + at), part.load(row.hh_bias + at)));
    };
    const Vector r = sigmoid_of(kFloats, sum(i));
    const Vector z = sigmoid_of(kFloats, sum(n + i));
    const int64_t at = 2 * n + i;
    const Vector reset = hn::Add(part.load(row.hh + at), part.load(row.hh_bias + at));
    const Vector input = hn::Add(part.load(row.ih + at), part.load(row.ih_bias + at));
    const Vector candidate = tanh_of(kFloats, hn::MulAdd(r, reset, input));
    part.store(r, row.saved + i);
    part.store(z, row.saved + n + i);
    part.store(candidate, row.saved + 2 * n + i);
    part.store(reset, row.saved + 3 * n + i);
    const Vector state = part.load(row.state + i);
    part.store(hn::MulAdd(z, hn::Sub(state, candidate), candidate), row.next + i);
  });
}

void gru_gradient_row(int64_t n, const GruGradientRow& row) {
  const Vector one = number(1.0F);
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    const Vector d = part.load(row.d_next + i), state = part.load(row.state + i);
    const Vector r = part.load(row.saved + i), z = part.load(row.saved + n + i);
    const Vector candidate = part.load(row.saved + 2 * n + i);
    const Vector reset = part.load(row.saved + 3 * n + i);
    const Vector kept = hn::Mul(d, z);
    const Vector d_candidate = hn::Sub(d, kept);
    const Vector d_n = hn::Mul(d_candidate, hn::NegMulAdd(candidate, candidate, one));
    const Vector d_z = hn::Mul(hn::Mul(kept, hn::Sub(one, z)), hn::Sub(state, candidate));
    const Vector d_reset = hn::Mul(d_n, r);
    const Vector d_r = hn::Mul(hn::Mul(d_reset, reset), hn::Sub(one, r));
    part.store(d_r, row.d_ih + i);
    part.store(d_r, row.d_hh + i);
    part.store(d_z, row.d_ih + n + i);
    part.store(d_z, row.d_hh + n + i);
    part.store(d_n, row.d_ih + 2 * n + i);
    part.store(d_reset, row.d_hh + 2 * n + i);
    part.store(kept, row.d_state + i);
  });
}

void normalize_gates_row(int64_t n, const float* x, const float* gain, float* normed,
                         float* inverse, float* y) {
  for (int64_t gate = 0; gate < 3; ++gate) {
    const float* in = x + gate * n;
    Vector sum = hn::Zero(kFloats), square = hn::Zero(kFloats);
    for_vectors(n, [&](int64_t i, auto part) HWY_ATTR { sum = hn::Add(sum, part.load(in + i)); });
    const float mean = sum_of(sum) / static_cast<float>(n);
    // The mean first: the difference of two large sums would lose what is small.
    float* centred = normed + gate * n;
    for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
      part.store(hn::Sub(part.load(in + i), number(mean)), centred + i);
      const Vector c = part.load(centred + i);
      square = hn::MulAdd(c, c, square);
    });
    inverse[gate] = 1.0F / std::sqrt(sum_of(square) / static_cast<float>(n) + 1e-5F);
    const Vector scale = number(inverse[gate]);
    for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
      const Vector value = hn::Mul(part.load(centred + i), scale);
      part.store(value, centred + i);
      part.store(hn::Mul(value, part.load(gain + gate * n + i)), y + gate * n + i);
    });
  }
}

void normalize_gates_gradient_row(int64_t n, const float* gain, const float* normed,
                                  const float* inverse, float* d_y, float* d_gain, float* d_bias) {
  for (int64_t gate = 0; gate < 3; ++gate) {
    const int64_t first = gate * n;
    Vector sum = hn::Zero(kFloats), product = hn::Zero(kFloats);
    for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
      const int64_t at = first + i;
      const Vector d = part.load(d_y + at), x = part.load(normed + at);
      part.store(hn::MulAdd(d, x, part.load(d_gain + at)), d_gain + at);
      part.store(hn::Add(d, part.load(d_bias + at)), d_bias + at);
      const Vector d_normed = hn::Mul(d, part.load(gain + at));
      part.store(d_normed, d_y + at);
      sum = hn::Add(sum, d_normed);
      product = hn::MulAdd(d_normed, x, product);
    });
    const Vector mean = number(sum_of(sum) / static_cast<float>(n));
    const Vector along = number(sum_of(product) / static_cast<float>(n));
    const Vector scale = number(inverse[gate]);
    for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
      const int64_t at = first + i;
      const Vector d = hn::Sub(part.load(d_y + at), mean);
      part.store(hn::Mul(hn::NegMulAdd(along, part.load(normed + at), d), scale), d_y + at);
    });
  }
}

void attention_energies(int64_t len, int64_t attention, const float* query, const float* keys,
                        const float* v, float* e) {
  for (int64_t j = 0; j < len; ++j) {
    const float* key = keys + j * attention;
    Vector sum = hn::Zero(kFloats);
    for_vectors(attention, [&](int64_t i, auto part) HWY_ATTR {
      const Vector u = tanh_of(kFloats, hn::Add(part.load(query + i), part.load(key + i)));
      sum = hn::MulAdd(part.load(v + i), u, sum);
    });
    e[j] = sum_of(sum);
  }
}

float largest(int64_t n, const float* x) {
  Vector most = number(x[0]);
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    // A partial vector is filled with zeros, which are no elements.
    if constexpr (std::is_same_v<decltype(part), Whole>) most = hn::Max(most, part.load(x + i));
  });
  float value = max_of(most);
  for (int64_t i = n - n % static_cast<int64_t>(hn::Lanes(kFloats)); i < n; ++i) {
    value = x[i] > value ? x[i] : value;
  }
  return value;
}

void softmax_row(int64_t len, float* e) {
  const Vector most = number(largest(len, e));
  for_vectors(len, [&](int64_t i, auto part) HWY_ATTR {
    part.store(exp_falling(hn::Sub(part.load(e + i), most)), e + i);
  });
  float sum = 0;
  for (int64_t j = 0; j < len; ++j) sum += e[j];
  for (int64_t j = 0; j < len; ++j) e[j] /= sum;
}

void attention_gradient_row(int64_t len, int64_t attention, const AttentionGradientRow& row) {
  float mean = 0;
  for (int64_t j = 0; j < len; ++j) mean += row.alpha[j] * row.d_alpha[j];
  for (int64_t j = 0; j < len; ++j) row.d_alpha[j] = row.alpha[j] * (row.d_alpha[j] - mean);
  for_vectors(attention, [&](int64_t i, auto part) HWY_ATTR {
    const Vector query = part.load(row.query + i), v = part.load(row.v + i);
    Vector d_query = hn::Zero(kFloats), d_v = part.load(row.d_v + i);
    for (int64_t j = 0; j < len; ++j) {
      const Vector u = tanh_of(kFloats, hn::Add(query, part.load(row.keys + j * attention + i)));
      const Vector d_e = number(row.d_alpha[j]);
      const Vector d_sum = hn::Mul(d_e, hn::NegMulAdd(hn::Mul(v, u), u, v));
      float* d_key = row.d_keys + j * attention + i;
      part.store(hn::Add(part.load(d_key), d_sum), d_key);
      d_query = hn::Add(d_query, d_sum);
      d_v = hn::MulAdd(d_e, u, d_v);
    }
    part.store(d_query, row.d_query + i);
    part.store(d_v, row.d_v + i);
  });
}

void add_weighted_rows(int64_t rows, int64_t width, const float* weights, const float* matrix,
                       int64_t stride, float* out) {
  // Four vectors of the sum stay in registers while the rows pass.
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFloats));
  int64_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes) {
    float* to = out + i;
    Vector a = hn::LoadU(kFloats, to), b = hn::LoadU(kFloats, to + lanes);
    Vector c = hn::LoadU(kFloats, to + 2 * lanes), d = hn::LoadU(kFloats, to + 3 * lanes);
    for (int64_t j = 0; j < rows; ++j) {
      const float* x = matrix + j * stride + i;
      const Vector weight = number(weights[j]);
      a = hn::MulAdd(weight, hn::LoadU(kFloats, x), a);
      b = hn::MulAdd(weight, hn::LoadU(kFloats, x + lanes), b);
      c = hn::MulAdd(weight, hn::LoadU(kFloats, x + 2 * lanes), c);
      d = hn::MulAdd(weight, hn::LoadU(kFloats, x + 3 * lanes), d);
    }
    hn::StoreU(a, kFloats, to);
    hn::StoreU(b, kFloats, to + lanes);
    hn::StoreU(c, kFloats, to + 2 * lanes);
    hn::StoreU(d, kFloats, to + 3 * lanes);
  }
  for_vectors(width - i, [&](int64_t rest, auto part) HWY_ATTR {
    Vector sum = part.load(out + i + rest);
    for (int64_t j = 0; j < rows; ++j) {
      sum = hn::MulAdd(number(weights[j]), part.load(matrix + j * stride + i + rest), sum);
    }
    part.store(sum, out + i + rest);
  });
}

void add_row_products(int64_t rows, int64_t width, const float* matrix, int64_t stride,
                      const float* x, float* out) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(kFloats));
  for (int64_t j = 0; j < rows; ++j) {
    const float* row = matrix + j * stride;
    Vector a = hn::Zero(kFloats), b = hn::Zero(kFloats);
    int64_t i = 0;
    for (; i + 2 * lanes <= width; i += 2 * lanes) {
      a = hn::MulAdd(hn::LoadU(kFloats, row + i), hn::LoadU(kFloats, x + i), a);
      b = hn::MulAdd(hn::LoadU(kFloats, row + i + lanes), hn::LoadU(kFloats, x + i + lanes), b);
    }
    for_vectors(width - i, [&](int64_t rest, auto part) HWY_ATTR {
      a = hn::MulAdd(part.load(row + i + rest), part.load(x + i + rest), a);
    });
    out[j] += sum_of(hn::Add(a, b));
  }
}

void add_to(int64_t n, const float* x, float* y) {
  for_vectors(n, [&](int64_t i, auto part)
                     HWY_ATTR { part.store(hn::Add(part.load(y + i), part.load(x + i)), y + i); });
}

void multiply(int64_t n, const float* a, const float* b, float* y) {
  for_vectors(n, [&](int64_t i, auto part)
                     HWY_ATTR { part.store(hn::Mul(part.load(a + i), part.load(b + i)), y + i); });
}

void add_product(int64_t n, const float* a, const float* b, float* y) {
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    part.store(hn::MulAdd(part.load(a + i), part.load(b + i), part.load(y + i)), y + i);
  });
}

/// Sum of exp(x - most). `keep`: each exp goes to x's place.
template <bool keep>
float sum_exp(int64_t n, float* x, float most) {
  Vector sum = hn::Zero(kFloats);
  float rest = 0;
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    const Vector e = exp_falling(hn::Sub(part.load(x + i), number(most)));
    if constexpr (std::is_same_v<decltype(part), Whole>) {
      sum = hn::Add(sum, e);
      if (keep) part.store(e, x + i);
    } else {
      HWY_ALIGN float buffer[hn::MaxLanes(kFloats)];
      hn::Store(e, kFloats, buffer);
      for (std::size_t lane = 0; lane < part.count; ++lane) {
        rest += buffer[lane];
        if (keep) x[i + static_cast<int64_t>(lane)] = buffer[lane];
      }
    }
  });
  return sum_of(sum) + rest;
}

CrossEntropy cross_entropy_row(int64_t vocab, float* logits, int64_t target, double eps,
                               float scale) {
  const float most = largest(vocab, logits);
  const float chosen = logits[target];
  const auto n = static_cast<double>(vocab);
  double mean = 0;
  if (eps > 0) {
    Vector sum = hn::Zero(kFloats);
    for_vectors(vocab,
                [&](int64_t i, auto part) HWY_ATTR { sum = hn::Add(sum, part.load(logits + i)); });
    mean = static_cast<double>(sum_of(sum)) / n;
  }
  const float sum =
      scale == 0.0F ? sum_exp<false>(vocab, logits, most) : sum_exp<true>(vocab, logits, most);
  const double total = static_cast<double>(most) + std::log(static_cast<double>(sum));
  CrossEntropy loss;
  loss.nll = total - static_cast<double>(chosen);
  loss.objective = eps > 0 ? (1 - eps) * loss.nll + eps * (total - mean) : loss.nll;
  if (scale == 0.0F) return loss;
  const Vector factor = number(scale / sum);
  const Vector uniform = number(-static_cast<float>(eps / n) * scale);
  for_vectors(vocab, [&](int64_t i, auto part) HWY_ATTR {
    part.store(hn::MulAdd(part.load(logits + i), factor, uniform), logits + i);
  });
  logits[target] -= static_cast<float>(1 - eps) * scale;
  return loss;
}

void log_softmax_row(int64_t vocab, float* logits) {
  const float most = largest(vocab, logits);
  const Vector total = number(most + std::log(sum_exp<false>(vocab, logits, most)));
  for_vectors(vocab, [&](int64_t i, auto part) HWY_ATTR {
    part.store(hn::Sub(part.load(logits + i), total), logits + i);
  });
}

double sum_of_squares(int64_t n, const float* x) {
  // Blocks that float can add up, then double.
  constexpr int64_t kBlock = 4096;
  double total = 0;
  for (int64_t first = 0; first < n; first += kBlock) {
    Vector sum = hn::Zero(kFloats);
    for_vectors(first + kBlock < n ? kBlock : n - first, [&](int64_t i, auto part) HWY_ATTR {
      const Vector value = part.load(x + first + i);
      sum = hn::MulAdd(value, value, sum);
    });
    total += static_cast<double>(sum_of(sum));
  }
  return total;
}

void adam_rows(int64_t n, const AdamStep& step, const float* gradient, float* parameter,
               float* first, float* second) {
  const Vector beta1 = number(step.beta1), rest1 = number(1 - step.beta1);
  const Vector beta2 = number(step.beta2), rest2 = number(1 - step.beta2);
  const Vector scale = number(step.scale), decay = number(step.decay), keep = number(step.keep);
  const Vector rate = number(step.rate), root = number(step.root), eps = number(step.epsilon);
  for_vectors(n, [&](int64_t i, auto part) HWY_ATTR {
    const Vector old = part.load(parameter + i);
    const Vector g = hn::MulAdd(decay, old, hn::Mul(part.load(gradient + i), scale));
    const Vector m = hn::MulAdd(beta1, part.load(first + i), hn::Mul(rest1, g));
    const Vector s = hn::MulAdd(beta2, part.load(second + i), hn::Mul(hn::Mul(rest2, g), g));
    part.store(m, first + i);
    part.store(s, second + i);
    const Vector size = hn::MulAdd(hn::Sqrt(s), root, eps);
    part.store(hn::NegMulAdd(rate, hn::Div(m, size), hn::Mul(keep, old)), parameter + i);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace verso
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace verso {

HWY_EXPORT(gru_row);
HWY_EXPORT(gru_gradient_row);
HWY_EXPORT(normalize_gates_row);
HWY_EXPORT(normalize_gates_gradient_row);
HWY_EXPORT(attention_energies);
HWY_EXPORT(softmax_row);
HWY_EXPORT(attention_gradient_row);
HWY_EXPORT(add_weighted_rows);
HWY_EXPORT(add_row_products);
HWY_EXPORT(add_to);
HWY_EXPORT(multiply);
HWY_EXPORT(add_product);
HWY_EXPORT(cross_entropy_row);
HWY_EXPORT(log_softmax_row);
HWY_EXPORT(sum_of_squares);
HWY_EXPORT(adam_rows);

void gru_row(int64_t hidden, const GruRow& row) { HWY_DYNAMIC_DISPATCH(gru_row)(hidden, row); }

void gru_gradient_row(int64_t hidden, const GruGradientRow& row) {
  HWY_DYNAMIC_DISPATCH(gru_gradient_row)(hidden, row);
}

void normalize_gates_row(int64_t hidden, const float* x, const float* gain, float* normed,
                         float* inverse, float* y) {
  HWY_DYNAMIC_DISPATCH(normalize_gates_row)(hidden, x, gain, normed, inverse, y);
}

void normalize_gates_gradient_row(int64_t hidden, const float* gain, const float* normed,
                                  const float* inverse, float* d_y, float* d_gain, float* d_bias) {
  HWY_DYNAMIC_DISPATCH(normalize_gates_gradient_row)
  (hidden, gain, normed, inverse, d_y, d_gain, d_bias);
}

void attention_energies(int64_t len, int64_t attention, const float* query, const float* keys,
                        const float* v, float* e) {
  HWY_DYNAMIC_DISPATCH(attention_energies)(len, attention, query, keys, v, e);
}

void softmax_row(int64_t len, float* e) { HWY_DYNAMIC_DISPATCH(softmax_row)(len, e); }

void attention_gradient_row(int64_t len, int64_t attention, const AttentionGradientRow& row) {
  HWY_DYNAMIC_DISPATCH(attention_gradient_row)(len, attention, row);
}

void add_weighted_rows(int64_t rows, int64_t width, const float* weights, const float* matrix,
                       int64_t stride, float* out) {
  HWY_DYNAMIC_DISPATCH(add_weighted_rows)(rows, width, weights, matrix, stride, out);
}

void add_row_products(int64_t rows, int64_t width, const float* matrix, int64_t stride,
                      const float* x, float* out) {
  HWY_DYNAMIC_DISPATCH(add_row_products)(rows, width, matrix, stride, x, out);
}

void add_to(int64_t n, const float* x, float* y) { HWY_DYNAMIC_DISPATCH(add_to)(n, x, y); }

void multiply(int64_t n, const float* a, const float* b, float* y) {
  HWY_DYNAMIC_DISPATCH(multiply)(n, a, b, y);
}

void add_product(int64_t n, const float* a, const float* b, float* y) {
  HWY_DYNAMIC_DISPATCH(add_product)(n, a, b, y);
}

CrossEntropy cross_entropy_row(int64_t vocab, float* logits, int64_t target, double eps,
                               float scale) {
  return HWY_DYNAMIC_DISPATCH(cross_entropy_row)(vocab, logits, target, eps, scale);
}

void log_softmax_row(int64_t vocab, float* logits) {
  HWY_DYNAMIC_DISPATCH(log_softmax_row)(vocab, logits);
}

double sum_of_squares(int64_t n, const float* x) {
  return HWY_DYNAMIC_DISPATCH(sum_of_squares)(n, x);
}

void adam_rows(int64_t n, const AdamStep& step, const float* gradient, float* parameter,
               float* first, float* second) {
  HWY_DYNAMIC_DISPATCH(adam_rows)(n, step, gradient, parameter, first, second);
}

}  // namespace verso
#endif
