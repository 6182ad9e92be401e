// The decoder's ways over packed sentences, by the fused kernels.

#include <ATen/Parallel.h>

#include "model/decoder.h"
#include "model/fused_decoder.h"
#include "nn/row_kernels.h"

namespace verso {

DecoderImpl::Recurred DecoderImpl::recur_all_fused(const Memory& memory, const Tensor& embedded,
                                                   const TargetBatch& target, const Tensor& mask1,
                                                   const Tensor& mask2,
                                                   const Tensor& energy_offset) const {
  FusedDecoderInput in;
  // Normalisation of gates that words and context share has to wait for the context.
  const bool normalized = config_.layer_norm;
  const GruCell& reader = conditional() ? gru2_ : gru1_;
  if (conditional()) {
    in.words = gru1_->gates(embedded);
    in.bias = gru2_->input_bias();
    in.gru2 = gru2_->recurrent(mask2);
  } else if (normalized) {
    in.words = gru1_->input_product(embedded);
    in.bias = gru1_->input_bias();
  } else {
    in.words = at::linear(embedded, gru1_->input_weight().narrow(1, 0, config_.embed),
                          gru1_->input_bias());
  }
  in.start = memory.start;
  in.keys = memory.keys;
  in.values = memory.values;
  in.query = attention_->query_weight();
  in.energy = attention_->energy();
  in.gru1 = gru1_->recurrent(mask1);
  if (normalized) in.gain = reader->input_gain();
  in.energy_offset = energy_offset;
  const FusedPairs pairs{memory.source, target.packed, memory.attended};
  const FusedDecoderOutput out = decode_fused(in, pairs);
  return {out.states, contexts_fused(out.alpha, memory.states, pairs), out.alpha};
}

namespace {

/// sum += sum_j alpha_j of the rows of `values` that a query may see.
void add_seen(const Tensor& values, int64_t first, int64_t len, const float* alpha, float* sum) {
  const int64_t width = values.size(1);
  add_weighted_rows(len, width, alpha, values.data_ptr<float>() + first * width, width, sum);
}

/// One GRU step of rows whose products are known; ih and state are overwritten.
void gru_step(const GruCell& cell, const Tensor& ih, const Tensor& ih_bias, const Tensor& state) {
  const GruWeights weights = cell->recurrent({});
  const int64_t rows = state.size(0), hidden = state.size(1);
  const Tensor hh = at::mm(state, weights.weight.t());
  at::parallel_for(0, rows, 4, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(static_cast<std::size_t>(7 * hidden));
    float inverse[3];
    for (int64_t r = begin; r < end; ++r) {
      float* const product = hh.data_ptr<float>() + r * 3 * hidden;
      float* const row = state.data_ptr<float>() + r * hidden;
      if (weights.gain.defined()) {
        normalize_gates_row(hidden, product, weights.gain.data_ptr<float>(), scratch.data(),
                            inverse, product);
      }
      gru_row(hidden, {ih.data_ptr<float>() + r * 3 * hidden, ih_bias.data_ptr<float>(), product,
                       weights.bias.data_ptr<float>(), row, scratch.data() + 3 * hidden, row});
    }
  });
}

}  // namespace

DecoderStep DecoderImpl::step_fused(const Memory& memory, const Queries& queries,
                                    const Tensor& words) const {
  const int64_t rows = queries.state.size(0), hidden = config_.hidden;
  const Tensor next = queries.state.clone();
  const Tensor no_bias = torch::zeros({3 * hidden}, next.options());
  Tensor sums;
  if (conditional()) {
    gru_step(gru1_, gru1_->gates(words), no_bias, next);
    sums = torch::zeros({rows, 3 * hidden}, next.options());
  } else {
    sums = gru1_->input_product(words);
  }
  const GruCell& reader = conditional() ? gru2_ : gru1_;
  const Tensor projected = attention_->project_query(next);
  Tensor alpha = torch::zeros({rows, memory.source.longest}, next.options());
  Tensor readout = at::mm(words, readout_word_->weight.t());
  at::parallel_for(0, rows, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> scratch(static_cast<std::size_t>(3 * hidden));
    float inverse[3];
    for (int64_t r = begin; r < end; ++r) {
      const auto b = static_cast<std::size_t>(queries.sentence[static_cast<std::size_t>(r)]);
      const int64_t first = memory.source.first[b], len = memory.attended[b];
      float* const weights = alpha.data_ptr<float>() + r * memory.source.longest;
      attention_energies(len, config_.attention,
                         projected.data_ptr<float>() + r * config_.attention,
                         memory.keys.data_ptr<float>() + first * config_.attention,
                         attention_->energy().data_ptr<float>(), weights);
      softmax_row(len, weights);
      float* const sum = sums.data_ptr<float>() + r * 3 * hidden;
      add_seen(memory.values, first, len, weights, sum);
      add_seen(memory.readout_values, first, len, weights,
               readout.data_ptr<float>() + r * readout.size(1));
      if (config_.layer_norm) {
        normalize_gates_row(hidden, sum, reader->input_gain().data_ptr<float>(), scratch.data(),
                            inverse, sum);
      }
    }
  });
  gru_step(reader, sums, reader->input_bias(), next);
  readout.addmm_(next, readout_state_->weight.t());
  return {next, activate(readout), alpha};
}

}  // namespace verso
