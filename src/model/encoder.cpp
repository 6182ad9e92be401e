#include "model/encoder.h"

#include "base/text.h"
#include "model/fused_encoder.h"
#include "nn/dropout.h"

namespace verso {

namespace {

/// Runs `cell` over input [source_len, batch, width] from left to right.
Tensor run(const GruCell& cell, const Tensor& input, const Tensor& state_mask, Trace* trace,
           Site site) {
  const Tensor gates = cell->gates(input);
  Tensor state = torch::zeros({input.size(1), cell->hidden()}, input.options());
  std::vector<Tensor> states;
  for (const Tensor& step : gates.unbind(0)) {
    state = see(trace, site, cell->step(step, state, state_mask));
    states.push_back(state);
  }
  return at::stack(states);
}

/// For each place [source_len, batch] the place that holds its word when every sentence is read
/// backwards over its own length; padding stays where it is.
Tensor reversed_places(const Packed& packed, const torch::Device& device) {
  Tensor places = torch::empty({packed.longest, packed.sentences()}, torch::kInt64);
  auto* place = places.data_ptr<int64_t>();
  for (int64_t j = 0; j < packed.longest; ++j) {
    for (const int64_t length : packed.lengths) *place++ = j < length ? length - 1 - j : j;
  }
  return places.to(device);
}

}  // namespace

EncoderImpl::EncoderImpl(const ModelConfig& config) : state_dropout_(config.dropout.state) {
  for (int64_t k = 0; k < config.encoder.layers; ++k) {
    const int64_t input = k == 0 ? config.embed : 2 * config.hidden;
    auto layer = std::make_shared<torch::nn::Module>();
    Layer cells{GruCell(input, config.hidden, config.gru, config.layer_norm),
                GruCell(input, config.hidden, config.gru, config.layer_norm)};
    layer->register_module("forward_gru", cells.forward);
    layer->register_module("backward_gru", cells.backward);
    register_module(cat("layer", k), layer);
    layers_.push_back(cells);
  }
}

Tensor EncoderImpl::run_generic(const Layer& layer, const Tensor& input, const SourceBatch& source,
                                const Tensor& forward_mask, const Tensor& backward_mask,
                                Trace* trace) const {
  // The backward direction reads each sentence reversed over its own length, so that both
  // directions are plain left-to-right runs in which padding comes last and reaches nothing.
  const Tensor padded = pad(input, source.packed, source.positions).transpose(0, 1);
  const Tensor places = reversed_places(source.packed, input.device()).unsqueeze(2);
  const Tensor reversed = padded.gather(0, places.expand({-1, -1, padded.size(2)}));
  const Tensor forward = run(layer.forward, padded, forward_mask, trace, Site::kForwardState);
  const Tensor backward = run(layer.backward, reversed, backward_mask, trace, Site::kBackwardState)
                              .gather(0, places.expand({-1, -1, layer.backward->hidden()}));
  return unpad(at::cat({forward, backward}, 2).transpose(0, 1), source.positions);
}

Tensor EncoderImpl::forward(const Tensor& embedded, const SourceBatch& source, bool fused,
                            Trace* trace) {
  const int64_t hidden = layers_[0].forward->hidden();
  const auto mask = [&] {
    const double p = is_training() ? state_dropout_ : 0.0;
    return dropout_mask(p, source.packed.sentences(), hidden, embedded.options());
  };
  Tensor input = embedded;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Layer& layer = layers_[k];
    const Tensor forward_mask = mask(), backward_mask = mask();
    Tensor both;
    if (fused) {
      both = run_fused({layer.forward->gates(input), layer.forward->recurrent(forward_mask)},
                       {layer.backward->gates(input), layer.backward->recurrent(backward_mask)},
                       source.packed);
    } else {
      const bool last = k + 1 == layers_.size();
      both = run_generic(layer, input, source, forward_mask, backward_mask, last ? trace : nullptr);
    }
    input = k == 0 ? both : both + input;
  }
  return input;
}

}  // namespace verso
