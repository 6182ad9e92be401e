#include "model/decoder.h"

#include <algorithm>

#include "nn/dropout.h"

namespace verso {

namespace {

torch::nn::Linear linear(int64_t in, int64_t out, bool bias) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(bias));
}

}  // namespace

Memory Memory::select(const std::vector<int64_t>& rows) const {
  const Tensor index = torch::tensor(rows, torch::kInt64).to(start.device());
  Memory kept = *this;
  kept.start = start.index_select(0, index);
  if (!packed) {
    kept.states = states.index_select(0, index);
    kept.keys = keys.index_select(0, index);
    kept.mask = mask.index_select(0, index);
    return kept;
  }
  kept.source.first.clear();
  kept.source.lengths.clear();
  kept.attended.clear();
  for (const int64_t row : rows) {
    const auto b = static_cast<std::size_t>(row);
    kept.source.first.push_back(source.first[b]);
    kept.source.lengths.push_back(source.lengths[b]);
    kept.attended.push_back(attended[b]);
  }
  return kept;
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

Memory DecoderImpl::remember(const Tensor& encoded, const SourceBatch& source, bool fused,
                             bool stepwise, Trace* trace) const {
  Memory memory;
  const Tensor states = see(trace, Site::kStates, encoded);
  const Tensor padded = fused && config_.decoder.start == DecoderStart::kBackward
                            ? Tensor()
                            : pad(states, source.packed, source.positions);
  Tensor summary;
  if (config_.decoder.start == DecoderStart::kBackward) {
    const Tensor first = torch::tensor(source.packed.first, torch::kInt64).to(states.device());
    summary = states.index_select(0, first).narrow(1, config_.hidden, config_.hidden);
  } else {
    const Tensor weights = source.mask.to(states.dtype());
    summary = at::bmm(weights.unsqueeze(1), padded).squeeze(1) / weights.sum(1, true);
  }
  memory.start =
      see(trace, Site::kStart, at::tanh(at::linear(summary, start_->weight, start_->bias)));
  memory.packed = fused;
  memory.states = fused ? states : padded;
  memory.keys = attention_->project_keys(memory.states);
  if (!fused) {
    memory.mask = source.mask;
    return memory;
  }
  memory.values =
      conditional() ? gru2_->input_product(states) : gru1_->input_product(states, config_.embed);
  if (stepwise) {
    memory.readout_values = at::linear(states, readout_context_->weight, readout_context_->bias);
  }
  memory.source = source.packed;
  memory.attended = source.attended;
  return memory;
}

DecoderImpl::StepOutput DecoderImpl::recur(const Memory& memory, const Tensor& state,
                                           const Tensor& word_product, const Tensor& mask1,
                                           const Tensor& mask2, Trace* trace) const {
  const int64_t batch = memory.states.size(0), hidden = config_.hidden;
  const auto attend = [&](const Tensor& asked) {
    const Tensor query = attention_->project_query(see(trace, Site::kQuery, asked));
    return attention_->forward(query.view({batch, -1, config_.attention}), memory.states,
                               memory.keys, memory.mask, trace);
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

Tensor DecoderImpl::activate(const Tensor& sum) const {
  if (config_.decoder.readout == Readout::kTanh) return at::tanh(sum);
  return std::get<0>(sum.view({sum.size(0), sum.size(1) / 2, 2}).max(-1));
}

DecoderImpl::Recurred DecoderImpl::recur_all(const Memory& memory, const Tensor& embedded,
                                             const TargetBatch& target, const Tensor& mask1,
                                             const Tensor& mask2, Trace* trace) const {
  // Previous words are all known: their part of the gates is one product over all steps.
  const Tensor products = pad(gru1_->input_product(embedded), target.packed, target.positions);
  Tensor state = memory.start;
  std::vector<Tensor> states, contexts, alphas;
  for (const Tensor& product : products.unbind(1)) {
    StepOutput out = recur(memory, state, product, mask1, mask2, trace);
    state = out.state;
    states.push_back(out.state);
    contexts.push_back(out.context);
    alphas.push_back(out.alpha);
  }
  return {unpad(at::stack(states, 1), target.positions),
          unpad(at::stack(contexts, 1), target.positions), at::cat(alphas, 1)};
}

DecoderOutput DecoderImpl::forward(const Memory& memory, const Tensor& embedded,
                                   const TargetBatch& target, Trace* trace,
                                   const Tensor& energy_offset) {
  Trace own;
  if (energy_offset.defined() && !memory.packed) {
    if (trace == nullptr) trace = &own;
    trace->change(Site::kEnergy, energy_offset.split(1, 1));
  }
  const auto mask = [&] {
    const double p = is_training() ? config_.dropout.state : 0.0;
    return dropout_mask(p, target.packed.sentences(), config_.hidden, embedded.options());
  };
  const Tensor mask1 = mask();
  const Tensor mask2 = conditional() ? mask() : Tensor();
  const Recurred all = memory.packed
                           ? recur_all_fused(memory, embedded, target, mask1, mask2, energy_offset)
                           : recur_all(memory, embedded, target, mask1, mask2, trace);
  // Readout and output layer run over real tokens only.
  const Tensor sum = at::linear(all.contexts, readout_context_->weight, readout_context_->bias) +
                     at::linear(all.states, readout_state_->weight) +
                     at::linear(embedded, readout_word_->weight);
  return {dropout(activate(sum), is_training() ? config_.dropout.readout : 0.0), all.alpha};
}

DecoderStep DecoderImpl::step(const Memory& memory, const Queries& queries,
                              const Tensor& embedded) const {
  if (memory.packed) return step_fused(memory, queries, embedded);
  // A row of places for each sentence, as many as its most queries need: keys are not copied.
  const int64_t batch = memory.states.size(0);
  std::vector<int64_t> places, count(static_cast<std::size_t>(batch), 0);
  for (const int64_t row : queries.sentence) {
    places.push_back(count[static_cast<std::size_t>(row)]++);
  }
  const int64_t width = *std::max_element(count.begin(), count.end());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] += queries.sentence[i] * width;
  const Tensor index = torch::tensor(places, torch::kInt64).to(embedded.device());
  const auto spread = [&](const Tensor& x) {
    return torch::zeros({batch * width, x.size(1)}, x.options()).index_copy(0, index, x);
  };
  const auto gather = [&](const Tensor& x) { return x.index_select(0, index); };
  const StepOutput out =
      recur(memory, spread(queries.state), spread(gru1_->input_product(embedded)), {}, {}, nullptr);
  const Tensor state = gather(out.state);
  const Tensor sum =
      at::linear(gather(out.context), readout_context_->weight, readout_context_->bias) +
      at::linear(state, readout_state_->weight) + at::linear(embedded, readout_word_->weight);
  return {state, activate(sum), gather(out.alpha.flatten(0, 1))};
}

}  // namespace verso
