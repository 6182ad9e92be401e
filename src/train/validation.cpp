#include "train/validation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "search/translator.h"
#include "train/attention_scores.h"

namespace verso {

namespace {

/// Lines translated between two looks at the stop flag: a second or so.
constexpr std::size_t kLinesAtATime = 200;

/// Puts the network into evaluation mode, and back into the mode it was in.
class EvaluationMode {
 public:
  explicit EvaluationMode(Seq2Seq& network) : network_(network), training_(network->is_training()) {
    network_->eval();
  }
  ~EvaluationMode() { network_->train(training_); }
  EvaluationMode(const EvaluationMode&) = delete;
  EvaluationMode& operator=(const EvaluationMode&) = delete;

 private:
  Seq2Seq& network_;
  bool training_;
};

std::optional<std::vector<std::string>> translate_all(const TranslationModel& model,
                                                      const std::vector<std::string>& lines,
                                                      const std::atomic<int>& stop) {
  TranslateOptions options;
  options.search.beam = model.config.validation.beam;
  options.search.length_penalty = model.config.validation.length_penalty;
  options.search.attention = false;
  const Translator translator({&model}, options);
  std::vector<std::string> texts;
  for (std::size_t first = 0; first < lines.size(); first += kLinesAtATime) {
    if (stop != 0) return {};
    const std::size_t last = std::min(lines.size(), first + kLinesAtATime);
    const std::vector<std::string> part(lines.begin() + static_cast<std::ptrdiff_t>(first),
                                        lines.begin() + static_cast<std::ptrdiff_t>(last));
    for (Translation& translation :
         translator.translate(part, static_cast<std::int64_t>(first) + 1)) {
      texts.push_back(std::move(translation.nbest.front().text));
    }
  }
  return texts;
}

}  // namespace

std::optional<ForcedLoss> forced_loss(Seq2Seq& network, const std::vector<EncodedLine>& sources,
                                      const std::vector<EncodedLine>& targets, int64_t batch_tokens,
                                      const std::atomic<int>& stop) {
  torch::NoGradGuard no_grad;
  const EvaluationMode evaluation(network);
  std::vector<std::size_t> order(sources.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return targets[a].ids.size() < targets[b].ids.size();
  });
  ForcedLoss sum;
  for (std::size_t first = 0; first < order.size();) {
    if (stop != 0) return {};
    std::vector<std::span<const std::int32_t>> source, target;
    std::size_t next = first;
    while (next < order.size()) {
      const std::size_t width = targets[order[next]].ids.size() + 1;
      if (next > first && (next - first + 1) * width > static_cast<std::size_t>(batch_tokens)) {
        break;
      }
      source.emplace_back(sources[order[next]].ids);
      target.emplace_back(targets[order[next]].ids);
      ++next;
    }
    const TargetBatch batch = make_target_batch(target, network->device());
    const DecoderOutput output = network->forward(
        make_source_batch(source, network->spec().model.attend_end, network->device()), batch);
    const Loss loss = cross_entropy(*network, output.readout, batch, 0.0);
    sum.nll += loss.nll.to(torch::kFloat64).sum().item<double>();
    sum.tokens += loss.tokens;
    first = next;
  }
  return sum;
}

Validator::Validator(const Config& config, const VocabularyPair& vocabularies)
    : text_(read_parallel_text(config.data.valid, config.data.invalid_utf8)) {
  for (std::size_t i = 0; i < text_.source.size(); ++i) {
    EncodedLine source = vocabularies.source->encode(text_.source[i]);
    EncodedLine target = vocabularies.target->encode(text_.target[i]);
    if (source.ids.empty() || target.ids.empty()) continue;
    sources_.push_back(std::move(source));
    targets_.push_back(std::move(target));
  }
  if (sources_.empty()) {
    const CorpusConfig& valid = config.data.valid;
    throw DataError(cat("data.valid (", valid.tsv.empty() ? valid.source : valid.tsv, "): none of ",
                        text_.source.size(), " pairs has text on both sides"));
  }
}

std::optional<Validation> Validator::run(TranslationModel& model,
                                         const std::string& translations_file,
                                         const std::atomic<int>& stop) const {
  const auto start = std::chrono::steady_clock::now();
  const EvaluationMode evaluation(model.network);
  const auto forced =
      forced_loss(model.network, sources_, targets_, model.config.training.batch_tokens, stop);
  if (!forced) return {};
  const auto texts = translate_all(model, text_.source, stop);
  if (!texts) return {};
  const auto attention = attention_scores(model, text_, stop);
  if (!attention) return {};
  Validation validation;
  validation.aer = attention->aer;
  validation.entropy = attention->entropy;
  validation.coverage = attention->coverage;
  validation.loss = forced->nll / static_cast<double>(forced->tokens);
  validation.perplexity = std::exp(validation.loss);
  validation.bleu = corpus_bleu(*texts, {text_.target}).score;
  validation.chrf = corpus_chrf(*texts, {text_.target}).score;
  validation.bleu_signature = bleu_signature(1);
  validation.chrf_signature = chrf_signature(1);
  const auto samples = static_cast<std::size_t>(model.config.validation.samples);
  for (std::size_t i = 0; i < std::min(samples, texts->size()); ++i) {
    // Spread over the file, the same ones at each validation.
    const std::size_t line = i * texts->size() / samples;
    validation.samples.push_back({text_.source[line], text_.target[line], (*texts)[line]});
  }
  AtomicFile file(translations_file);
  for (const std::string& text : *texts) file.write(text + "\n");
  file.commit();
  validation.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return validation;
}

}  // namespace verso
