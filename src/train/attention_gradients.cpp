#include "train/attention_gradients.h"

#include <torch/csrc/autograd/autograd.h>

#include "train/studied_pair.h"

namespace verso {

namespace {

Tensor gradient(const Tensor& output, const Tensor& input, const Tensor& of_output) {
  return torch::autograd::grad({output}, {input}, {of_output}, /*retain_graph=*/true,
                               /*create_graph=*/false, /*allow_unused=*/false)[0];
}

/// LibTorch's gradients of the loss, the values of one site stacked to rows.
class Autograd {
 public:
  Autograd(const Tensor& loss, const Trace& trace, const Studied& studied) {
    std::vector<Tensor> inputs;
    for (const Site site : kWatched) {
      inputs.insert(inputs.end(), trace.at(site).begin(), trace.at(site).end());
    }
    for (const char* name : kParameters) inputs.push_back(studied.parameter(name));
    const auto gradients = torch::autograd::grad({loss}, inputs, {}, /*retain_graph=*/true);
    auto next = gradients.begin();
    for (const Site site : kWatched) {
      const auto count = static_cast<std::ptrdiff_t>(trace.at(site).size());
      sites_[site] = rows({next, next + count});
      next += count;
    }
    for (const char* name : kParameters) parameters_[name] = *next++;
  }

  static Tensor rows(const std::vector<Tensor>& values) {
    const Tensor all = at::cat(values);
    return all.reshape({-1, all.size(-1)});
  }

  [[nodiscard]] const Tensor& at_site(Site site) const { return sites_.at(site); }
  [[nodiscard]] const Tensor& of(const std::string& name) const { return parameters_.at(name); }

 private:
  static constexpr std::array kWatched = {Site::kForwardState, Site::kBackwardState, Site::kStates,
                                          Site::kStart,        Site::kEnergy,        Site::kAlpha,
                                          Site::kContext};
  static constexpr std::array kParameters = {
      "decoder.attention.energy", "decoder.attention.query.weight", "decoder.attention.key.weight",
      "decoder.attention.key.bias"};
  std::map<Site, Tensor> sites_;
  std::map<std::string, Tensor> parameters_;
};

/// Sums over steps and positions of k_tj and dL/de_tj tanh(…), or of their absolute values.
struct TermSums {
  Tensor by_step, by_position;  ///< sum_j k_tj [T, attention], sum_t k_tj [S, attention]
  Tensor v;                     ///< [attention]

  TermSums(int64_t steps, int64_t positions, const Tensor& energy_weights)
      : by_step(at::zeros({steps, energy_weights.size(0)}, energy_weights.options())),
        by_position(at::zeros({positions, energy_weights.size(0)}, energy_weights.options())),
        v(at::zeros_like(energy_weights)) {}

  /// hidden = tanh(W q_t + U h_j + b) and inner = k_tj [S, attention], energy = dL/de_t [S, 1].
  void add(int64_t step, const Tensor& energy, const Tensor& hidden, const Tensor& inner) {
    by_step.select(0, step).copy_(inner.sum(0));
    by_position.add_(inner);
    v.add_((energy * hidden).sum(0));
  }
};

/// How much is summed in each entry of the parameters' gradients.
struct ParameterSizes {
  Tensor v, query_weight, key_weight, key_bias;
};

/// Everything inside attention, from alpha, h, dL/dc and the parameters.
/// Returns the sizes of the parameters' terms.
ParameterSizes differentiate_attention(const Trace& trace, const Autograd& autograd,
                                       const Studied& studied, AttentionGradients& found) {
  const Tensor states = trace.at(Site::kStates)[0].detach();
  const Tensor queries = Autograd::rows(trace.at(Site::kQuery)).detach();
  const Tensor v = studied.parameter("decoder.attention.energy").detach();
  const Tensor query_weight = studied.parameter("decoder.attention.query.weight").detach();
  const Tensor key_weight = studied.parameter("decoder.attention.key.weight").detach();
  const Tensor key_bias = studied.parameter("decoder.attention.key.bias").detach();

  found.alpha = Autograd::rows(trace.at(Site::kAlpha)).detach();
  found.context = autograd.at_site(Site::kContext);
  found.g = at::mm(found.context, states.t());
  found.advantage = found.g - (found.alpha * found.g).sum(1, true);
  found.energy = found.alpha * found.advantage;
  found.value_path = at::mm(found.alpha.t(), found.context);

  const Tensor asked = at::linear(queries, query_weight);
  const Tensor keys = at::linear(states, key_weight, key_bias);
  TermSums sums(queries.size(0), states.size(0), v), sizes(queries.size(0), states.size(0), v);
  for (int64_t t = 0; t < queries.size(0); ++t) {  // all steps at once could fill the memory
    const Tensor hidden = at::tanh(asked.narrow(0, t, 1) + keys);
    const Tensor energy = found.energy.select(0, t).unsqueeze(1);
    const Tensor inner = (1 - hidden * hidden) * v * energy;
    sums.add(t, energy, hidden, inner);
    sizes.add(t, energy.abs(), hidden.abs(), inner.abs());
  }
  found.key_path = at::mm(sums.by_position, key_weight);
  found.v = sums.v;
  found.query_weight = at::mm(sums.by_step.t(), queries);
  found.key_weight = at::mm(sums.by_position.t(), states);
  found.key_bias = sums.by_position.sum(0);
  return {sizes.v, at::mm(sizes.by_step.t(), queries.abs()),
          at::mm(sizes.by_position.t(), states.abs()), sizes.by_position.sum(0)};
}

void differentiate_start(const Trace& trace, const Autograd& autograd, const Studied& studied,
                         const SourceBatch& source, AttentionGradients& found) {
  const ModelConfig& config = studied.network().spec().model;
  const Tensor start = trace.at(Site::kStart)[0].detach();
  const Tensor inner = (1 - start * start) * autograd.at_site(Site::kStart);
  const Tensor summary = at::mm(inner, studied.parameter("decoder.start.weight").detach());
  found.start_path = at::zeros_like(found.value_path);
  if (config.decoder.start == DecoderStart::kBackward) {
    found.start_path.narrow(0, 0, 1).narrow(1, config.hidden, config.hidden).copy_(summary);
  } else {
    const int64_t seen = source.attended[0];
    found.start_path.narrow(0, 0, seen)
        .copy_((summary / static_cast<double>(seen)).expand({seen, -1}));
  }
}

/// [positions, hidden] in the order of `states`: what each state's gradient gets from the next one,
/// whose own is `direct` and what it got itself; one cell at a time.
Tensor through_recurrence(const std::vector<Tensor>& states, const Tensor& direct) {
  Tensor arrived = at::zeros_like(direct);
  for (int64_t j = direct.size(0) - 2; j >= 0; --j) {
    const auto at = static_cast<std::size_t>(j);
    const Tensor whole = direct.narrow(0, j + 1, 1) + arrived.narrow(0, j + 1, 1);
    arrived.narrow(0, j, 1).copy_(gradient(states[at + 1], states[at], whole));
  }
  return arrived;
}

void differentiate_recurrence(const Trace& trace, AttentionGradients& found) {
  const Tensor direct = found.value_path + found.key_path + found.start_path;
  const auto halves = direct.chunk(2, 1);
  const Tensor forward = through_recurrence(trace.at(Site::kForwardState), halves[0]);
  const Tensor backward =
      through_recurrence(trace.at(Site::kBackwardState), halves[1].flip(0)).flip(0);
  found.recurrent_path = at::cat({forward, backward}, 1);
  found.states = direct + found.recurrent_path;
}

double relative_difference(const Tensor& found, const Tensor& expected, const Tensor& sizes) {
  const double difference = (found - expected).abs().max().item<double>();
  const double size = sizes.abs().max().item<double>();
  return size > 0 ? difference / size : difference;
}

std::vector<Difference> compare(const AttentionGradients& found, const Autograd& autograd,
                                const ParameterSizes& sizes) {
  const Tensor whole = at::cat(
      {autograd.at_site(Site::kForwardState), autograd.at_site(Site::kBackwardState).flip(0)}, 1);
  const Tensor direct = found.value_path + found.key_path + found.start_path;
  const auto by_entries = [](const char* name, const Tensor& ours, const Tensor& expected) {
    return Difference{name, relative_difference(ours, expected, expected)};
  };
  const auto by_terms = [&](const char* name, const char* parameter, const Tensor& ours,
                            const Tensor& terms) {
    return Difference{name, relative_difference(ours, autograd.of(parameter), terms)};
  };
  return {
      by_entries("dL/dalpha", found.g, autograd.at_site(Site::kAlpha)),
      by_entries("dL/de", found.energy, autograd.at_site(Site::kEnergy)),
      by_entries("dL/dh without recurrence", direct, autograd.at_site(Site::kStates)),
      by_entries("dL/dh", found.states, whole),
      by_terms("dL/dv", "decoder.attention.energy", found.v, sizes.v),
      by_terms("dL/dW", "decoder.attention.query.weight", found.query_weight, sizes.query_weight),
      by_terms("dL/dU", "decoder.attention.key.weight", found.key_weight, sizes.key_weight),
      by_terms("dL/db", "decoder.attention.key.bias", found.key_bias, sizes.key_bias),
  };
}

}  // namespace

AttentionGradients attention_gradients(Seq2Seq& network, std::span<const std::int32_t> source,
                                       std::span<const std::int32_t> target) {
  const Studied studied(network);
  const StudiedPair pair(studied, source, target);
  const at::AutoGradMode with_gradients(true);
  Trace trace;
  const Tensor loss = pair.loss(studied, trace);
  const Autograd autograd(loss, trace, studied);

  AttentionGradients found;
  found.loss = loss.item<double>();
  const ParameterSizes sizes = differentiate_attention(trace, autograd, studied, found);
  differentiate_start(trace, autograd, studied, pair.source, found);
  differentiate_recurrence(trace, found);
  found.differences = compare(found, autograd, sizes);
  for (Tensor* tensor :
       {&found.alpha, &found.g, &found.advantage, &found.energy, &found.context, &found.value_path,
        &found.key_path, &found.start_path, &found.recurrent_path, &found.states, &found.v,
        &found.query_weight, &found.key_weight, &found.key_bias}) {
    *tensor = tensor->to(torch::kCPU).contiguous();
  }
  return found;
}

Seq2Seq in_double(const Seq2Seq& network) {
  ModelSpec spec = network->spec();
  spec.kernels = Kernels::kGeneric;
  spec.initialize = false;
  Seq2Seq copy(spec);
  copy->to(network->device(), torch::kDouble);
  torch::NoGradGuard no_grad;
  const auto from = network->parameters();
  auto to = copy->parameters();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  copy->train(network->is_training());
  return copy;
}

}  // namespace verso
