#include "model/seq2seq.h"

#include <torch/nn/init.h>

#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "model/fused_loss.h"
#include "nn/dropout.h"

namespace verso {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Orthogonal for each of the three gates, so that every gate starts norm-preserving.
void orthogonal_gates_(Tensor weight) {
  for (Tensor gate : weight.chunk(3, 0)) torch::nn::init::orthogonal_(gate);
}

void initialize_(torch::nn::Module& model) {
  torch::NoGradGuard no_grad;
  for (auto& item : model.named_parameters()) {
    const std::string& name = item.key();
    Tensor& value = item.value();
    if (ends_with(name, "embedding")) {
      value.normal_(0.0, 1.0 / std::sqrt(static_cast<double>(value.size(1))));
    } else if (ends_with(name, "weight_hh")) {
      orthogonal_gates_(value);
    } else if (ends_with(name, "energy")) {
      const double bound = 1.0 / std::sqrt(static_cast<double>(value.size(0)));
      value.uniform_(-bound, bound);
    } else if (ends_with(name, "gain_ih") || ends_with(name, "gain_hh")) {
      value.fill_(1.0);
    } else if (value.dim() == 1) {
      value.zero_();
    } else {
      torch::nn::init::xavier_uniform_(value);
    }
  }
}

}  // namespace

Seq2SeqImpl::Seq2SeqImpl(const ModelSpec& spec) : spec_(spec) {
  const ModelConfig& config = spec.model;
  if (config.tie == Tie::kAll && spec.source_vocab != spec.target_vocab) {
    throw ConfigError(cat("model.tie = \"all\" shares one matrix, but the vocabularies have ",
                          spec.source_vocab, " and ", spec.target_vocab,
                          " entries; set vocabulary.joint = true"));
  }
  if (config.tie != Tie::kAll) {
    source_embedding_ =
        register_parameter("source_embedding", torch::empty({spec.source_vocab, config.embed}));
  }
  target_embedding_ =
      register_parameter("target_embedding", torch::empty({spec.target_vocab, config.embed}));
  encoder_ = register_module("encoder", Encoder(config));
  decoder_ = register_module("decoder", Decoder(config));
  if (config.tie == Tie::kNone) {
    output_weight_ =
        register_parameter("output_weight", torch::empty({spec.target_vocab, config.embed}));
  }
  output_bias_ = register_parameter("output_bias", torch::zeros({spec.target_vocab}));
  if (spec.initialize) initialize_(*this);
}

bool Seq2SeqImpl::fused() const {
  if (spec_.kernels == Kernels::kGeneric) return false;
  const char* const obstacle =
      !output_bias_.device().is_cpu()               ? "the model is not on a CPU"
      : output_bias_.scalar_type() != torch::kFloat ? "parameters are not float"
      : spec_.model.gru != GruVariant::kResetAfter  ? "model.gru is not \"reset_after\""
                                                    : nullptr;
  if (obstacle != nullptr && spec_.kernels == Kernels::kFused) {
    throw ConfigError(
        cat("kernels = \"fused\", but ", obstacle, "; expected \"auto\" or \"generic\" there"));
  }
  return obstacle == nullptr;
}

Tensor Seq2SeqImpl::embed(const Tensor& table, const Tensor& ids, double word_dropout) const {
  const Tensor embedded = at::embedding(table, ids);
  if (!is_training()) return embedded;
  const Tensor words = dropout_mask(word_dropout, ids.size(0), 1, embedded.options());
  return dropout(words.defined() ? embedded * words : embedded, spec_.model.dropout.embed);
}

Memory Seq2SeqImpl::encode(const SourceBatch& source, bool stepwise, Trace* trace) {
  const Tensor& table = source_embedding_.defined() ? source_embedding_ : target_embedding_;
  const DropoutConfig& rates = spec_.model.dropout;
  const bool by_fused = fused();
  TORCH_INTERNAL_ASSERT(trace == nullptr || !by_fused, "only the generic kernels can be traced");
  const Tensor states =
      encoder_->forward(embed(table, source.ids, rates.source_word), source, by_fused, trace);
  return decoder_->remember(dropout(states, is_training() ? rates.encoder : 0.0), source, by_fused,
                            stepwise, trace);
}

Memory Seq2SeqImpl::encode(const SourceBatch& source) { return encode(source, true, nullptr); }

DecoderOutput Seq2SeqImpl::forward(const SourceBatch& source, const TargetBatch& target,
                                   Trace* trace, const Tensor& energy_offset) {
  const Memory memory = encode(source, false, trace);
  const Tensor embedded = embed(target_embedding_, target.input, spec_.model.dropout.target_word);
  return decoder_->forward(memory, embedded, target, trace, energy_offset);
}

DecoderStep Seq2SeqImpl::step(const Memory& memory, const Queries& queries) {
  return decoder_->step(memory, queries, at::embedding(target_embedding_, queries.previous));
}

Tensor Seq2SeqImpl::logits(const Tensor& readout) const {
  return at::linear(readout, output_weight(), output_bias_);
}

int64_t Seq2SeqImpl::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

Loss cross_entropy(const Seq2SeqImpl& model, const Tensor& readout, const TargetBatch& target,
                   double eps) {
  if (model.fused()) {
    const FusedLoss loss = fused_cross_entropy(readout, model.output_weight(), model.output_bias(),
                                               target.output, eps);
    return {loss.objective, loss.nll, loss.nll.numel()};
  }
  const Tensor log_probs = at::log_softmax(model.logits(readout), -1);
  const Tensor nll = log_probs.gather(1, target.output.unsqueeze(1)).squeeze(1).neg();
  Tensor objective = nll.sum();
  if (eps > 0) objective = (1 - eps) * objective - eps * log_probs.mean(1).sum();
  return {objective, nll.detach(), nll.numel()};
}

}  // namespace verso
