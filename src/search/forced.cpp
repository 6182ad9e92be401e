#include "search/forced.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {

constexpr int64_t kRowsAtOnce = 1024;  // bounds the [rows, vocab] matrix

/// [tokens] on the CPU: log probability of each real target token.
Tensor token_log_probs(std::vector<Seq2Seq>& networks, const std::vector<Tensor>& readouts,
                       const Tensor& output) {
  std::vector<Tensor> parts;
  for (int64_t first = 0; first < output.size(0); first += kRowsAtOnce) {
    const int64_t rows = std::min(kRowsAtOnce, output.size(0) - first);
    std::vector<Tensor> logits;
    for (std::size_t m = 0; m < networks.size(); ++m) {
      logits.push_back(networks[m]->logits(readouts[m].narrow(0, first, rows)));
    }
    const Tensor words = output.narrow(0, first, rows).unsqueeze(1);
    parts.push_back(ensemble_log_probs(logits).gather(1, words).squeeze(1));
  }
  return at::cat(parts).to(torch::kCPU, torch::kFloat).contiguous();
}

/// See AttentionKind; `energy_gradient` is dL/de = alpha (g - sum_k alpha_k g_k), whose sum over k
/// the normalisation takes away.
Tensor posterior_of(const Tensor& alpha, const Tensor& energy_gradient) {
  // Nothing of first order holds so far away, and exp() is to stay finite.
  constexpr double kFurthest = 50;
  const Tensor advantage = (energy_gradient / alpha).clamp(-kFurthest, kFurthest);
  const Tensor nowhere = at::full({}, -std::numeric_limits<float>::infinity(), alpha.options());
  return at::softmax(at::where(alpha > 0, alpha.log() - advantage, nowhere), -1);
}

DecoderOutput forward(Seq2Seq& network, const SourceBatch& source, const TargetBatch& target,
                      AttentionKind attention) {
  if (attention == AttentionKind::kPrior) return network->forward(source, target);
  const at::AutoGradMode with_gradients(true);
  Tensor offset =
      at::zeros({target.packed.sentences(), target.packed.longest, source.packed.longest},
                network->output_bias().options().requires_grad(false));
  offset.set_requires_grad(true);
  const DecoderOutput out = network->forward(source, target, nullptr, offset);
  const Tensor loss = cross_entropy(*network, out.readout, target, 0).objective;
  const Tensor energy_gradient = torch::autograd::grad({loss}, {offset})[0];
  return {out.readout.detach(), posterior_of(out.alpha.detach(), energy_gradient)};
}

void decode_batch(std::vector<Seq2Seq>& networks, const std::vector<std::size_t>& batch,
                  const ForcedOptions& options, std::vector<ForcedPair>& pairs) {
  const int64_t shift = options.shift;
  std::vector<std::span<const std::int32_t>> sources, targets;
  std::vector<std::vector<std::int32_t>> extended;
  extended.reserve(batch.size());
  for (const std::size_t i : batch) {
    sources.emplace_back(pairs[i].source.ids);
    extended.push_back(pairs[i].target.ids);
    extended.back().insert(extended.back().end(), static_cast<std::size_t>(shift), kEndId);
    targets.emplace_back(extended.back());
  }
  const torch::Device device = networks[0]->device();
  const TargetBatch target = make_target_batch(targets, device);
  std::vector<Tensor> readouts, alphas;
  for (Seq2Seq& network : networks) {
    TORCH_INTERNAL_ASSERT(!network->is_training(), "forced decoding needs evaluation mode");
    const bool attend_end = network->spec().model.attend_end;
    const DecoderOutput out =
        forward(network, make_source_batch(sources, attend_end, device), target, options.attention);
    readouts.push_back(out.readout);
    alphas.push_back(out.alpha);
  }
  const Tensor log_probs = token_log_probs(networks, readouts, target.output);
  const Tensor alpha = ensemble_mean(alphas).to(torch::kCPU, torch::kFloat).contiguous();
  const float* log_prob = log_probs.data_ptr<float>();
  const float* row = alpha.data_ptr<float>();
  const int64_t target_len = alpha.size(1), source_len = alpha.size(2);
  for (const std::size_t i : batch) {
    ForcedPair& pair = pairs[i];
    const auto rows = static_cast<int64_t>(pair.target.ids.size()) + 1;
    const auto columns = static_cast<int64_t>(pair.source.ids.size()) + 1;
    pair.token_log_probs.assign(log_prob, log_prob + rows);
    for (const float value : pair.token_log_probs) pair.log_prob += static_cast<double>(value);
    for (int64_t t = 0; t < rows; ++t) {
      const float* seen = row + (t + shift) * source_len;
      pair.alpha.insert(pair.alpha.end(), seen, seen + columns);
    }
    log_prob += rows + shift;
    row += target_len * source_len;
  }
}

}  // namespace

std::int64_t usual_shift(const TranslationModel& model) { return model.config.model.decoder.shift; }

std::vector<ForcedPair> forced_decode(const std::vector<const TranslationModel*>& models,
                                      std::vector<EncodedPair> pairs,
                                      const ForcedOptions& options) {
  const bool posterior = options.attention == AttentionKind::kPosterior;
  if (posterior && options.shift != 0) {
    throw UsageError(cat("posterior attention is that of the step that makes a word; shift is ",
                         options.shift, ", expected 0"));
  }
  std::vector<Seq2Seq> networks = ensemble_networks(models);
  std::vector<ForcedPair> decoded(pairs.size());
  std::vector<std::size_t> wanted;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    decoded[i].source = std::move(pairs[i].source);
    decoded[i].target = std::move(pairs[i].target);
    const std::size_t source_len = decoded[i].source.ids.size() + 1;
    const std::size_t target_len = decoded[i].target.ids.size() + 1;
    lengths.push_back(std::max(static_cast<std::int64_t>(source_len),
                               static_cast<std::int64_t>(target_len) + options.shift));
    if (source_len > 1 && target_len > 1) wanted.push_back(i);
  }
  const c10::InferenceMode inference(!posterior);
  const at::NoGradGuard no_gradients;
  for (const std::vector<std::size_t>& batch :
       batches_by_length(wanted, lengths, options.batch_tokens)) {
    decode_batch(networks, batch, options, decoded);
  }
  return decoded;
}

std::vector<ForcedPair> forced_decode(const std::vector<const TranslationModel*>& models,
                                      const std::vector<std::string>& source,
                                      const std::vector<std::string>& target,
                                      const ForcedOptions& options) {
  if (source.size() != target.size()) {
    throw ShapeError(cat(source.size(), " source lines, ", target.size(), " target lines"));
  }
  if (models.empty()) throw UsageError("no model given");
  const VocabularyPair& vocabularies = models[0]->vocabularies;
  std::vector<EncodedPair> pairs;
  for (std::size_t i = 0; i < source.size(); ++i) {
    pairs.push_back(
        {vocabularies.source->encode(source[i]), vocabularies.target->encode(target[i])});
  }
  return forced_decode(models, std::move(pairs), options);
}

}  // namespace verso
