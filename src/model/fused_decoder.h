#pragma once

#include <vector>

#include "nn/fused_gru.h"
#include "nn/packed.h"

namespace verso {

/// Which source tokens the queries of which target tokens see.
struct FusedPairs {
  Packed source, target;
  std::vector<int64_t> attended;  ///< [batch] positions attention may see, from the first on
};

/// What the recurrence of a decoder reads. With one GRU (rnnsearch) gru2.weight is undefined.
struct FusedDecoderInput {
  Tensor words;   ///< [target tokens, 3*hidden] what the previous words give to the first GRU
  Tensor start;   ///< [batch, hidden]
  Tensor keys;    ///< [source tokens, attention]
  Tensor values;  ///< [source tokens, 3*hidden] what each state, as context, gives to the gates:
                  ///< W_c c_t = sum_j alpha_tj (W_c h_j), one product a sentence instead of one a
                  ///< step
  Tensor query;   ///< [attention, hidden]
  Tensor energy;  ///< [attention]
  GruWeights gru1, gru2;
  Tensor bias;  ///< [3*hidden] of the gates that the context goes to; undefined: in `words`
  Tensor gain;  ///< [3*hidden] of their layer normalisation; undefined: none
  Tensor energy_offset;  ///< [batch, target_len, source_len] added to the energies; undefined: none
};

struct FusedDecoderOutput {
  Tensor states;  ///< [target tokens, hidden]
  Tensor alpha;   ///< [batch, target_len, source_len], zeros where there is no token
};

/// Teacher-forced recurrence of both decoder kinds, equations as in DecoderImpl. Groups of
/// sentences run side by side on threads, each step with the sentences that still have a word;
/// every weight gradient is one product over all steps. Differentiable; CPU, float.
[[nodiscard]] FusedDecoderOutput decode_fused(const FusedDecoderInput& input,
                                              const FusedPairs& pairs);

/// context_t = sum_j alpha_tj h_j: alpha as above, states [source tokens, width]
/// -> [target tokens, width]. Differentiable; CPU, float.
[[nodiscard]] Tensor contexts_fused(const Tensor& alpha, const Tensor& states,
                                    const FusedPairs& pairs);

}  // namespace verso
