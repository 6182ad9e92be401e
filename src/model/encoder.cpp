#include "model/encoder.h"

#include "base/text.h"

namespace verso {

namespace {

/// Runs `cell` over input [source_len, batch, width] from left to right.
Tensor run(const GruCell& cell, const Tensor& input, const Tensor& state_mask) {
  const Tensor gates = cell->input_gates(cell->input_product(input));
  Tensor state = torch::zeros({input.size(1), cell->hidden()}, input.options());
  std::vector<Tensor> states;
  for (const Tensor& step : gates.unbind(0)) {
    state = cell->step(step, state, state_mask);
    states.push_back(state);
  }
  return at::stack(states);
}

/// For each place [source_len, batch] the place that holds its word when every sentence is read
/// backwards over its own length; padding stays where it is.
Tensor reversed_places(const std::vector<int64_t>& lengths, int64_t source_len,
                       const torch::Device& device) {
  const auto batch = static_cast<int64_t>(lengths.size());
  Tensor places = torch::empty({source_len, batch}, torch::kInt64);
  auto* place = places.data_ptr<int64_t>();
  for (int64_t j = 0; j < source_len; ++j) {
    for (const int64_t length : lengths) *place++ = j < length ? length - 1 - j : j;
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

Tensor EncoderImpl::forward(const Tensor& embedded, const std::vector<int64_t>& lengths) {
  // The backward direction reads each sentence reversed over its own length, so that both
  // directions are plain left-to-right runs in which padding comes last and reaches nothing.
  Tensor input = embedded.transpose(0, 1);
  const int64_t batch = input.size(1), hidden = layers_[0].forward->hidden();
  const Tensor places = reversed_places(lengths, input.size(0), input.device()).unsqueeze(2);
  const auto mask = [&] {
    return sequence_mask(state_dropout_, is_training(), batch, hidden, input.options());
  };
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const Tensor reversed = input.gather(0, places.expand({-1, -1, input.size(2)}));
    const Tensor forward = run(layers_[k].forward, input, mask());
    const Tensor backward =
        run(layers_[k].backward, reversed, mask()).gather(0, places.expand({-1, -1, hidden}));
    const Tensor both = at::cat({forward, backward}, 2);
    input = k == 0 ? both : both + input;
  }
  return input.transpose(0, 1).contiguous();
}

}  // namespace verso
