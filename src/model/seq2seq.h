#pragma once

#include "model/decoder.h"
#include "model/encoder.h"

namespace verso {

/// Sizes and choices that make a model.
struct ModelSpec {
  ModelConfig model;
  int64_t source_vocab = 0;
  int64_t target_vocab = 0;
  Kernels kernels = Kernels::kAuto;
  /// false: parameters hold anything until the caller writes every one. Loading a model does, and
  /// the orthogonal matrices would take most of its time.
  bool initialize = true;
};

/// The translation model: embeddings, encoder, decoder, output layer.
///   logits_t = output.weight readout_t + output.bias
/// Parameters by name: source_embedding [source_vocab, embed], target_embedding [target_vocab,
/// embed], encoder.*, decoder.*, output_weight [target_vocab, embed] (absent when tied to the
/// target embedding), output_bias [target_vocab]. With Tie::kAll source_embedding is absent too.
class Seq2SeqImpl : public torch::nn::Module {
 public:
  /// Parameters initialised from LibTorch's default generator: matrices Glorot uniform, recurrent
  /// ones orthogonal gate by gate, embeddings N(0, 1/embed), energy U(-1/sqrt(attention), …),
  /// biases 0, gains 1. Throws ConfigError when Tie::kAll meets different vocabulary sizes.
  explicit Seq2SeqImpl(const ModelSpec& spec);

  /// Encodes a batch for step().
  [[nodiscard]] Memory encode(const SourceBatch& source);

  /// Teacher forcing: readouts of all real target tokens and all attention weights. `trace` sees
  /// what lies between; it REQUIRES the generic kernels. `energy_offset` [batch, target_len,
  /// source_len] is added to attention's energies: zeros whose gradient is dL/de, by all kernels.
  [[nodiscard]] DecoderOutput forward(const SourceBatch& source, const TargetBatch& target,
                                      Trace* trace = nullptr, const Tensor& energy_offset = {});

  /// One step of decoding.
  [[nodiscard]] DecoderStep step(const Memory& memory, const Queries& queries);

  /// readout [..., embed] -> logits [..., target_vocab].
  [[nodiscard]] Tensor logits(const Tensor& readout) const;
  [[nodiscard]] const Tensor& output_weight() const {
    return output_weight_.defined() ? output_weight_ : target_embedding_;
  }
  [[nodiscard]] const Tensor& output_bias() const { return output_bias_; }

  /// Which kernels run from now on. `auto` and `check` mean the fused ones wherever they can run.
  void use_kernels(Kernels kernels) { spec_.kernels = kernels; }
  /// True when the fused kernels run: parameters on the CPU, in float, with GRUs that reset after
  /// the product. Throws ConfigError when they cannot although Kernels::kFused asks for them.
  [[nodiscard]] bool fused() const;

  [[nodiscard]] const ModelSpec& spec() const { return spec_; }
  [[nodiscard]] torch::Device device() const { return output_bias_.device(); }
  [[nodiscard]] int64_t parameter_count() const;

 private:
  [[nodiscard]] Tensor embed(const Tensor& table, const Tensor& ids, double word_dropout) const;
  [[nodiscard]] Memory encode(const SourceBatch& source, bool stepwise, Trace* trace);

  ModelSpec spec_;
  Encoder encoder_{nullptr};
  Decoder decoder_{nullptr};
  Tensor source_embedding_, target_embedding_, output_weight_, output_bias_;
};
TORCH_MODULE(Seq2Seq);

/// Cross-entropy of a batch, summed over real target tokens with the end symbol.
struct Loss {
  Tensor objective;  ///< scalar: (1-eps) * cross-entropy + eps * mean over the vocabulary of -log p
  Tensor nll;        ///< [tokens] detached: -log p of each real token, no smoothing
  int64_t tokens = 0;
};

/// readout as in DecoderOutput; label smoothing `eps` in [0, 1).
[[nodiscard]] Loss cross_entropy(const Seq2SeqImpl& model, const Tensor& readout,
                                 const TargetBatch& target, double eps);

}  // namespace verso
