#include "model/fused_encoder.h"

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstring>

#include "nn/row_kernels.h"

namespace verso {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What both ways through a layer share: who runs when.
class Layer {
 public:
  Layer(const Packed& packed, int64_t hidden)
      : packed_(packed),
        hidden_(hidden),
        groups_(deal_sentences(packed.lengths, std::max(1, at::get_num_threads() / 2))) {}

  [[nodiscard]] int64_t groups() const { return static_cast<int64_t>(groups_.size()); }

  /// Calls run(direction, group) for each direction and group, side by side.
  template <class Run>
  void each(const Run& run) const {
    at::parallel_for(0, 2 * groups(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) run(task % 2, task / 2);
    });
  }

  [[nodiscard]] const SentenceGroup& group(int64_t g) const {
    return groups_[static_cast<std::size_t>(g)];
  }
  [[nodiscard]] int64_t rows(int64_t g) const {
    return static_cast<int64_t>(group(g).members.size());
  }

  /// Tokens of step t of a direction, for the group's members that are alive.
  [[nodiscard]] StepRows step(int64_t direction, int64_t g, int64_t t,
                              std::vector<int64_t>& tokens) const {
    const SentenceGroup& members = group(g);
    const int64_t count = members.alive[static_cast<std::size_t>(t)];
    for (int64_t r = 0; r < count; ++r) {
      const auto b = static_cast<std::size_t>(members.members[static_cast<std::size_t>(r)]);
      const int64_t j = direction == 0 ? t : packed_.lengths[b] - 1 - t;
      tokens[static_cast<std::size_t>(r)] = packed_.first[b] + j;
    }
    return {count, tokens.data(), members.members.data()};
  }

  /// A row of scratch for each task: `state` floats a member for states, and the GRU's own.
  [[nodiscard]] Tensor scratch(const FusedGru& gru, const torch::TensorOptions& options) const {
    int64_t most = 0;
    for (int64_t g = 0; g < groups(); ++g) most = std::max(most, rows(g));
    return torch::empty({2 * groups(), most * hidden_ + gru.scratch_size(most)}, options);
  }

 private:
  const Packed& packed_;
  int64_t hidden_;
  std::vector<SentenceGroup> groups_;
};

void forward_run(const Layer& layer, int64_t direction, int64_t g, FusedGru& gru,
                 const Tensor& gates, const Tensor& no_bias, const Tensor& scratch,
                 Tensor& states) {
  const int64_t hidden = no_bias.size(0) / 3, rows = layer.rows(g);
  float* const state = scratch.data_ptr<float>() + (2 * g + direction) * scratch.size(1);
  float* const rest = state + rows * hidden;
  std::memset(state, 0, static_cast<std::size_t>(rows * hidden) * sizeof(float));
  float* const out = states.data_ptr<float>() + direction * hidden;
  std::vector<int64_t> tokens(static_cast<std::size_t>(rows));
  for (std::size_t t = 0; t < layer.group(g).alive.size(); ++t) {
    const StepRows step = layer.step(direction, g, static_cast<int64_t>(t), tokens);
    gru.forward(step, gates.data_ptr<float>(), no_bias.data_ptr<float>(), state, rest);
    for (int64_t r = 0; r < step.count; ++r) {
      std::memcpy(out + step.token[r] * 2 * hidden, state + r * hidden,
                  static_cast<std::size_t>(hidden) * sizeof(float));
    }
  }
}

void backward_run(const Layer& layer, int64_t direction, int64_t g, FusedGru& gru,
                  const Tensor& d_states, Tensor& d_gates, Tensor& d_norm, const Tensor& scratch) {
  const int64_t hidden = d_gates.size(1) / 3, rows = layer.rows(g);
  float* const carry = scratch.data_ptr<float>() + (2 * g + direction) * scratch.size(1);
  float* const rest = carry + rows * hidden;
  std::memset(carry, 0, static_cast<std::size_t>(rows * hidden) * sizeof(float));
  const float* const d_out = d_states.data_ptr<float>() + direction * hidden;
  float* const norm = d_norm.defined() ? d_norm.data_ptr<float>() + g * 6 * hidden : nullptr;
  std::vector<int64_t> tokens(static_cast<std::size_t>(rows));
  for (auto t = static_cast<int64_t>(layer.group(g).alive.size()) - 1; t >= 0; --t) {
    const StepRows step = layer.step(direction, g, t, tokens);
    for (int64_t r = 0; r < step.count; ++r) {
      add_to(hidden, d_out + step.token[r] * 2 * hidden, carry + r * hidden);
    }
    gru.backward(step, carry, d_gates.data_ptr<float>(), norm, rest);
  }
}

/// Arguments: gates, weight, bias, gain, mask of the forward direction, then of the backward one.
class RunBoth : public torch::autograd::Function<RunBoth> {
 public:
  static constexpr std::size_t kArguments = 5;

  static Tensor forward(AutogradContext* context, const Tensor& gates0, const Tensor& weight0,
                        const Tensor& bias0, const Tensor& gain0, const Tensor& mask0,
                        const Tensor& gates1, const Tensor& weight1, const Tensor& bias1,
                        const Tensor& gain1, const Tensor& mask1,
                        const std::vector<int64_t>& lengths) {
    const Packed packed(lengths);
    const int64_t hidden = weight0.size(1);
    const auto options = gates0.options().requires_grad(false);
    const Layer layer(packed, hidden);
    FusedGru grus[2] = {FusedGru(weights(weight0, bias0, gain0, mask0), packed.tokens),
                        FusedGru(weights(weight1, bias1, gain1, mask1), packed.tokens)};
    const Tensor gates[2] = {gates0.contiguous(), gates1.contiguous()};
    const Tensor no_bias = torch::zeros({3 * hidden}, options);
    const Tensor scratch = layer.scratch(grus[0], options);
    Tensor states = torch::empty({packed.tokens, 2 * hidden}, options);
    layer.each([&](int64_t direction, int64_t g) {
      forward_run(layer, direction, g, grus[direction], gates[direction], no_bias, scratch, states);
    });
    variable_list kept = {weight0, bias0, gain0, mask0, weight1, bias1, gain1, mask1};
    for (const FusedGru& gru : grus) {
      for (const Tensor& tensor : gru.saved()) kept.push_back(tensor);
    }
    context->save_for_backward(kept);
    context->saved_data["lengths"] = lengths;
    return states;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list kept = context->get_saved_variables();
    const Packed packed(context->saved_data["lengths"].toIntVector());
    const int64_t hidden = kept[0].size(1);
    const Tensor d_states = gradients[0].contiguous();
    const auto options = d_states.options();
    const Layer layer(packed, hidden);
    const auto saved = [&](std::size_t direction) {
      const auto begin =
          kept.begin() + static_cast<std::ptrdiff_t>(8 + direction * FusedGru::kSaved);
      return std::vector<Tensor>(begin, begin + static_cast<std::ptrdiff_t>(FusedGru::kSaved));
    };
    FusedGru grus[2] = {FusedGru(weights(kept[0], kept[1], kept[2], kept[3]), saved(0)),
                        FusedGru(weights(kept[4], kept[5], kept[6], kept[7]), saved(1))};
    const Tensor scratch = layer.scratch(grus[0], options);
    Tensor d_gates[2], d_norm[2];
    for (int i = 0; i < 2; ++i) {
      d_gates[i] = torch::empty({packed.tokens, 3 * hidden}, options);
      if (grus[i].normalized()) d_norm[i] = torch::zeros({layer.groups(), 2, 3 * hidden}, options);
    }
    layer.each([&](int64_t direction, int64_t g) {
      backward_run(layer, direction, g, grus[direction], d_states, d_gates[direction],
                   d_norm[direction], scratch);
    });
    variable_list d;
    for (int i = 0; i < 2; ++i) {
      const FusedGru::Gradients weights = grus[i].gradients(d_norm[i]);
      d.insert(d.end(), {d_gates[i], weights.weight, weights.bias, weights.gain, Tensor()});
    }
    d.emplace_back();  // lengths
    return d;
  }

 private:
  static GruWeights weights(const Tensor& weight, const Tensor& bias, const Tensor& gain,
                            const Tensor& mask) {
    return {weight, bias, empty_as_absent(gain), empty_as_absent(mask)};
  }
};

}  // namespace

Tensor run_fused(const FusedRun& forward, const FusedRun& backward, const Packed& packed) {
  const GruWeights &f = forward.weights, &b = backward.weights;
  return RunBoth::apply(forward.gates, f.weight, f.bias, absent_as_empty(f.gain),
                        absent_as_empty(f.mask), backward.gates, b.weight, b.bias,
                        absent_as_empty(b.gain), absent_as_empty(b.mask), packed.lengths);
}

}  // namespace verso
