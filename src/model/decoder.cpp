#include "model/decoder.h"

namespace verso {

namespace {

torch::nn::Linear linear(int64_t in, int64_t out, bool bias) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace

Memory Memory::select(const Tensor& rows) const {
  return {states.index_select(0, rows), keys.index_select(0, rows), mask.index_select(0, rows),
          start.index_select(0, rows)};
}

DecoderImpl::DecoderImpl(const ModelConfig& config) : config_(config) {
  const int64_t embed = config.embed, hidden = config.hidden;
  if (config.decoder.kind == DecoderKind::kRnnsearch) {
    gru1_ =
        register_module("gru", GruCell(embed + 2 * hidden, hidden, config.gru, config.layer_norm));
  } else {
    gru1_ = register_module("gru1", GruCell(embed, hidden, config.gru, config.layer_norm));
    gru2_ = register_module("gru2", GruCell(2 * hidden, hidden, config.gru, config.layer_norm));
  }
  attention_ = register_module("attention", BahdanauAttention(hidden, config.attention));
  const bool mean = config.decoder.start == DecoderStart::kMean;
  start_ = register_module("start", linear(mean ? 2 * hidden : hidden, hidden, true));
  const int64_t width = config.decoder.readout == Readout::kMaxout ? 2 * embed : embed;
  readout_state_ = register_module("readout_state", linear(hidden, width, false));
  readout_word_ = register_module("readout_word", linear(embed, width, false));
  readout_context_ = register_module("readout_context", linear(2 * hidden, width, true));
}

Memory DecoderImpl::remember(const Tensor& states, const Tensor& mask) const {
  Tensor summary;
  if (config_.decoder.start == DecoderStart::kBackward) {
    summary = states.select(1, 0).narrow(1, config_.hidden, config_.hidden);
  } else {
    const Tensor weights = mask.to(states.dtype());
    summary = at::bmm(weights.unsqueeze(1), states).squeeze(1) / weights.sum(1, true);
  }
  const Tensor start = at::tanh(at::linear(summary, start_->weight, start_->bias));
  return {states, attention_->project_keys(states), mask, start};
}

DecoderImpl::StepOutput DecoderImpl::recur(const Memory& memory, const Tensor& state,
                                           const Tensor& word_product, const Tensor& mask1,
                                           const Tensor& mask2) const {
  const int64_t batch = memory.states.size(0), hidden = config_.hidden;
  const auto attend = [&](const Tensor& query) {
    return attention_->forward(
        attention_->project_query(query).view({batch, -1, config_.attention}), memory.states,
        memory.keys, memory.mask);
  };
  const auto rows = [&](const Tensor& context) { return context.view({-1, 2 * hidden}); };
  if (config_.decoder.kind == DecoderKind::kRnnsearch) {
    const AttentionOutput seen = attend(state);
    const Tensor product = word_product + gru1_->input_product(rows(seen.context), config_.embed);
    return {gru1_->step(gru1_->input_gates(product), state, mask1), rows(seen.context), seen.alpha};
  }
  const Tensor middle = gru1_->step(gru1_->input_gates(word_product), state, mask1);
  const AttentionOutput seen = attend(middle);
  const Tensor gates = gru2_->input_gates(gru2_->input_product(rows(seen.context)));
  return {gru2_->step(gates, middle, mask2), rows(seen.context), seen.alpha};
}

Tensor DecoderImpl::read_out(const Tensor& state, const Tensor& embedded,
                             const Tensor& context) const {
  const Tensor sum = at::linear(context, readout_context_->weight, readout_context_->bias) +
                     at::linear(state, readout_state_->weight) +
                     at::linear(embedded, readout_word_->weight);
  if (config_.decoder.readout == Readout::kTanh) return at::tanh(sum);
  auto shape = sum.sizes().vec();
  shape.back() /= 2;
  shape.push_back(2);
  return std::get<0>(sum.view(shape).max(-1));
}

DecoderOutput DecoderImpl::forward(const Memory& memory, const Tensor& embedded,
                                   const TargetBatch& target) {
  const int64_t batch = embedded.size(0), hidden = config_.hidden;
  const auto mask = [&] {
    return sequence_mask(config_.dropout.state, is_training(), batch, hidden, embedded.options());
  };
  const Tensor mask1 = mask();
  const Tensor mask2 = gru2_.is_empty() ? Tensor() : mask();
  // Previous words are all known: their part of the gates is one product over all steps.
  const Tensor word_products = gru1_->input_product(embedded.transpose(0, 1).contiguous());
  Tensor state = memory.start;
  std::vector<Tensor> states, contexts, alphas;
  for (const Tensor& word_product : word_products.unbind(0)) {
    StepOutput out = recur(memory, state, word_product, mask1, mask2);
    state = out.state;
    states.push_back(out.state);
    contexts.push_back(out.context);
    alphas.push_back(out.alpha);
  }
  // Readout and output layer run over real tokens only.
  const auto real = [&](const std::vector<Tensor>& steps) {
    return at::stack(steps, 1).flatten(0, 1).index_select(0, target.positions);
  };
  const Tensor words = embedded.flatten(0, 1).index_select(0, target.positions);
  Tensor readout = read_out(real(states), words, real(contexts));
  if (is_training() && config_.dropout.readout > 0) {
    readout = at::dropout(readout, config_.dropout.readout, true);
  }
  return {readout, at::cat(alphas, 1)};
}

DecoderStep DecoderImpl::step(const Memory& memory, const Tensor& state,
                              const Tensor& embedded) const {
  const int64_t batch = state.size(0), beam = state.size(1);
  const Tensor words = embedded.reshape({batch * beam, config_.embed});
  const StepOutput out = recur(memory, state.reshape({batch * beam, config_.hidden}),
                               gru1_->input_product(words), {}, {});
  const Tensor readout = read_out(out.state, words, out.context);
  return {out.state.view({batch, beam, -1}), readout.view({batch, beam, -1}), out.alpha};
}

}  // namespace verso
