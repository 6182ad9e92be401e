#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/seq2seq.h"
#include "nn/trace.h"

/// How the gradient reaches attention, pair by pair: the equations of Bahdanau attention's
/// gradients, each term on its own, and how well they agree with LibTorch's.
namespace verso {

/// What two ways of making the same gradient differ by.
struct Difference {
  std::string gradient;  ///< "dL/dalpha" …
  /// Largest difference over the largest entry. Over the largest sum of its terms' sizes for dL/dv,
  /// dL/dW, dL/dU and dL/db against autograd: terms of both signs add up there to much less than
  /// each is (sum_j dL/de_tj = 0), and no sum is more exact than its terms. Absolute where that is
  /// 0.
  double relative = 0;
};

/// Gradients of L = - log p(target | source), summed over target tokens and the end symbol, no
/// dropout, no label smoothing, for one pair. Steps t and positions j count tokens with the end
/// symbol: T and S of them. With e the energies, alpha their softmax, q_t what attention asks with,
/// h_j an encoder state, c_t = sum_j alpha_tj h_j (nn/bahdanau_attention.h), and dL/dc_t, dL/ds_0
/// as they arrive from the decoder:
///   g_tj     = dL/dalpha_tj = h_j . dL/dc_t
///   dL/de_tj = alpha_tj (g_tj - sum_k alpha_tk g_tk), the advantage in brackets
///   k_tj     = (1 - tanh²(W q_t + U h_j + b)) * v dL/de_tj
///   dL/dh_j  = sum_t alpha_tj dL/dc_t    value path: h_j as what is summed
///            + sum_t U^T k_tj            key path: h_j as what is asked about
///            + the start path            through s_0 = tanh(W_s x + b_s)
///            + the recurrent path        through the encoder's own next state in each direction
///   dL/dv = sum_tj dL/de_tj tanh(…),  dL/dW = sum_tj k_tj q_t^T,  dL/dU = sum_tj k_tj h_j^T
/// With several encoder layers h_j is the last one's output and its recurrence the recurrent path.
/// All tensors are on the CPU, in the network's type.
struct AttentionGradients {
  double loss = 0;   ///< L, nats
  Tensor alpha;      ///< [T, S]
  Tensor g;          ///< [T, S]
  Tensor advantage;  ///< [T, S]; descent gives weight to where it is negative
  Tensor energy;     ///< [T, S], dL/de
  Tensor context;    ///< [T, 2*hidden], dL/dc
  Tensor value_path, key_path, start_path, recurrent_path;  ///< [S, 2*hidden] each
  Tensor states;                                            ///< [S, 2*hidden], their sum, dL/dh
  Tensor v;                                                 ///< [attention], dL/dv
  Tensor query_weight;                                      ///< [attention, hidden], dL/dW
  Tensor key_weight;                                        ///< [attention, 2*hidden], dL/dU
  Tensor key_bias;                                          ///< [attention], dL/db
  std::vector<Difference> differences;                      ///< these formulas against autograd
};

/// Ids without begin and end symbols. Runs the generic kernels in evaluation mode and leaves the
/// network's mode, kernels, parameters, their gradients and the generators as they were. Throws
/// ShapeError when attention would see nothing. Cost: a pass forward and back, and one small pass
/// back for each source position.
[[nodiscard]] AttentionGradients attention_gradients(Seq2Seq& network,
                                                     std::span<const std::int32_t> source,
                                                     std::span<const std::int32_t> target);

/// `found`, from attention_gradients(), against central differences of fourth order,
///   (8 (L(x+h) - L(x-h)) - (L(x+2h) - L(x-2h))) / 12h:
/// of each gradient the largest entries and as many that `seed` picks. REQUIRES a network in
/// double. Cost: some 800 passes forward.
[[nodiscard]] std::vector<Difference> finite_differences(Seq2Seq& network,
                                                         std::span<const std::int32_t> source,
                                                         std::span<const std::int32_t> target,
                                                         const AttentionGradients& found,
                                                         std::uint64_t seed);

/// A copy of `network` in double, for gradients to 1e-10.
[[nodiscard]] Seq2Seq in_double(const Seq2Seq& network);

}  // namespace verso
