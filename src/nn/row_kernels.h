#pragma once

#include <cstdint>

/// The inner loops of the fused kernels: rows of floats, vectorised for the CPU at hand, on the
/// calling thread, without allocation. Equations and names as in gru.h and bahdanau_attention.h.
namespace verso {

/// One row of a GRU step, reset-after.
///   ih, hh       [3*hidden]  products of the input and of the state, gates r, z, n
///   ih_bias, hh_bias [3*hidden] added to them
///   state        [hidden]
///   saved        [4*hidden]  out: r, z, n and what r multiplies (the candidate's part of hh +
///   bias) next         [hidden]    out; may be `state`
struct GruRow {
  const float *ih, *ih_bias, *hh, *hh_bias, *state;
  float *saved, *next;
};
void gru_row(int64_t hidden, const GruRow& row);

/// Gradients of a row: of `next` in; of ih and hh (both before bias, so also the biases'), and of
/// the state by the way of z, out. d_state may be d_next.
struct GruGradientRow {
  const float *d_next, *saved, *state;
  float *d_ih, *d_hh, *d_state;
};
void gru_gradient_row(int64_t hidden, const GruGradientRow& row);

/// Normalises each gate of x [3*hidden] over hidden (eps 1e-5) and scales it by gain.
///   normed [3*hidden] out, before the gain; inverse [3] out, 1/standard deviation; y [3*hidden]
///   out
void normalize_gates_row(int64_t hidden, const float* x, const float* gain, float* normed,
                         float* inverse, float* y);

/// d_y becomes the gradient of x, in place; adds to d_gain and d_bias (the bias is added to y).
void normalize_gates_gradient_row(int64_t hidden, const float* gain, const float* normed,
                                  const float* inverse, float* d_y, float* d_gain, float* d_bias);

/// e[j] = v . tanh(query + keys[j]), j < len, keys [len, attention].
void attention_energies(int64_t len, int64_t attention, const float* query, const float* keys,
                        const float* v, float* e);

/// Softmax of e [len] in place.
void softmax_row(int64_t len, float* e);

/// One query's attention backwards.
///   alpha, d_alpha [len]; d_e_j = alpha_j (d_alpha_j - sum_k alpha_k d_alpha_k) overwrites d_alpha
///   d_query [attention] out; d_keys [len, attention] and d_v [attention] are added to
struct AttentionGradientRow {
  const float *query, *keys, *v, *alpha;
  float *d_alpha, *d_query, *d_keys, *d_v;
};
void attention_gradient_row(int64_t len, int64_t attention, const AttentionGradientRow& row);

/// out [width] += sum_j weights[j] matrix[j], rows `stride` apart.
void add_weighted_rows(int64_t rows, int64_t width, const float* weights, const float* matrix,
                       int64_t stride, float* out);

/// out[j] += matrix[j] . x, rows of `width` floats, `stride` apart.
void add_row_products(int64_t rows, int64_t width, const float* matrix, int64_t stride,
                      const float* x, float* out);

/// y += x.
void add_to(int64_t n, const float* x, float* y);
/// y = a * b; y += a * b.
void multiply(int64_t n, const float* a, const float* b, float* y);
void add_product(int64_t n, const float* a, const float* b, float* y);

/// Cross-entropy of one row of logits with label smoothing eps.
///   nll = -log p[target]; objective = (1-eps) nll + eps mean(-log p)
/// With `scale` not 0 the row becomes scale times the gradient of objective.
struct CrossEntropy {
  double objective = 0, nll = 0;
};
CrossEntropy cross_entropy_row(int64_t vocab, float* logits, int64_t target, double eps,
                               float scale);

/// Logits become log probabilities, in place.
void log_softmax_row(int64_t vocab, float* logits);

/// Sum of squares in double.
double sum_of_squares(int64_t n, const float* x);

/// One step of Adam over n parameters; see ParameterUpdater.
struct AdamStep {
  float beta1, beta2, epsilon;
  float scale;  ///< of the gradient
  float rate;   ///< learning rate / (1 - beta1^k)
  float root;   ///< 1 / sqrt(1 - beta2^k)
  float decay;  ///< added to the gradient: decay * p
  float keep;   ///< p is multiplied by it first: 1 - rate * decay, decoupled
};
void adam_rows(int64_t n, const AdamStep& step, const float* gradient, float* parameter,
               float* first, float* second);

}  // namespace verso
