#pragma once

#include "model/batch.h"
#include "nn/bahdanau_attention.h"
#include "nn/gru.h"

namespace verso {

/// An encoded batch, ready to be attended to, in one of two forms: padded (generic kernels), or
/// packed (fused ones), where rows of sentence b are source.first[b] … and the products that
/// attention would multiply at each step are made once a sentence.
struct Memory {
  Tensor states;  ///< [batch, source_len, 2*hidden], or [tokens, 2*hidden]
  Tensor keys;    ///< [batch, source_len, attention], or [tokens, attention]
  Tensor start;   ///< [batch, hidden], s_0
  Tensor mask;    ///< padded: [batch, source_len] bool

  bool packed = false;
  Tensor values;  ///< packed: [tokens, 3*hidden], what each state gives the gates as context
  Tensor readout_values;  ///< packed, for step(): [tokens, width], the same for the readout + bias
  Packed source;          ///< packed; `longest` is alpha's source_len
  std::vector<int64_t> attended;  ///< packed: [batch] positions attention may see

  /// The sentences `rows` only, in that order: how finished ones leave a batch. Packed, nothing is
  /// copied but the start states.
  [[nodiscard]] Memory select(const std::vector<int64_t>& rows) const;
};

/// What a teacher-forced pass over the target gives.
struct DecoderOutput {
  Tensor readout;  ///< [tokens, embed], in the order of TargetBatch::output
  Tensor alpha;  ///< [batch, target_len, source_len]; rows beyond a sentence's end are meaningless
};

/// The hypotheses that one step of decoding extends, any number for each sentence.
struct Queries {
  Tensor state;                   ///< [queries, hidden], s_{t-1}
  Tensor previous;                ///< [queries] int64, y_{t-1}
  std::vector<int64_t> sentence;  ///< [queries] rows of the Memory, not falling
};

/// What one step of decoding gives.
struct DecoderStep {
  Tensor state;    ///< [queries, hidden], s_t
  Tensor readout;  ///< [queries, embed]
  Tensor alpha;    ///< [queries, source_len], attention when y_t is made
};

/// Attention decoder, Bahdanau et al. 2015, A.1.2, of one of two kinds:
///   rnnsearch    alpha_t, c_t = attention(s_{t-1});  s_t = gru([E y_{t-1}; c_t], s_{t-1})
///   conditional  s'_t = gru1(E y_{t-1}, s_{t-1});  alpha_t, c_t = attention(s'_t);
///                s_t = gru2(c_t, s'_t)                    (Nematus, arXiv:1703.04357)
/// Readout of s_t, the previous word and the context (the paper reads s_{t-1}; s_t is what later
/// systems read):
///   p_t = R_s s_t + R_w E y_{t-1} + R_c c_t + b
///   tanh: readout_t = tanh(p_t);  maxout: readout_t[k] = max(p_t[2k], p_t[2k+1])
/// Start: s_0 = tanh(W_s x + b), x = backward state at the first word (the paper) or the mean of
/// the states at attended positions. Children: gru (rnnsearch) or gru1 and gru2, attention, start,
/// readout_state, readout_word, readout_context (which holds b). No state between calls.
class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const ModelConfig& config);

  /// encoded [tokens, 2*hidden], packed as `source` -> what decoding reads. `fused`: for the fused
  /// kernels, whose step() wants more (`stepwise`) than forward() does.
  [[nodiscard]] Memory remember(const Tensor& encoded, const SourceBatch& source, bool fused,
                                bool stepwise, Trace* trace = nullptr) const;

  /// Teacher forcing. embedded [tokens, embed]: embeddings of target.input. energy_offset as in
  /// Seq2SeqImpl::forward().
  [[nodiscard]] DecoderOutput forward(const Memory& memory, const Tensor& embedded,
                                      const TargetBatch& target, Trace* trace = nullptr,
                                      const Tensor& energy_offset = {});

  /// One step. embedded [queries, embed]: embeddings of queries.previous. Queries of a sentence
  /// share its states and keys.
  [[nodiscard]] DecoderStep step(const Memory& memory, const Queries& queries,
                                 const Tensor& embedded) const;

 private:
  struct StepOutput {
    Tensor state, context, alpha;
  };
  /// word_product: input_product of the previous words, [batch*queries, 3*hidden].
  [[nodiscard]] StepOutput recur(const Memory& memory, const Tensor& state,
                                 const Tensor& word_product, const Tensor& mask1,
                                 const Tensor& mask2, Trace* trace) const;
  struct Recurred {
    Tensor states, contexts, alpha;  // [tokens, hidden], [tokens, 2*hidden], as in DecoderOutput
  };
  [[nodiscard]] Recurred recur_all(const Memory& memory, const Tensor& embedded,
                                   const TargetBatch& target, const Tensor& mask1,
                                   const Tensor& mask2, Trace* trace) const;
  [[nodiscard]] Recurred recur_all_fused(const Memory& memory, const Tensor& embedded,
                                         const TargetBatch& target, const Tensor& mask1,
                                         const Tensor& mask2, const Tensor& energy_offset) const;
  [[nodiscard]] DecoderStep step_fused(const Memory& memory, const Queries& queries,
                                       const Tensor& words) const;
  /// What the readout makes of the sum of its parts [rows, width].
  [[nodiscard]] Tensor activate(const Tensor& sum) const;
  [[nodiscard]] bool conditional() const { return !gru2_.is_empty(); }

  ModelConfig config_;
  GruCell gru1_{nullptr}, gru2_{nullptr};
  BahdanauAttention attention_{nullptr};
  torch::nn::Linear start_{nullptr};
  torch::nn::Linear readout_state_{nullptr}, readout_word_{nullptr}, readout_context_{nullptr};
};
TORCH_MODULE(Decoder);

}  // namespace verso
