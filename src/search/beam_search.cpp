#include "search/beam_search.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "data/vocabulary.h"
#include "nn/row_kernels.h"
#include "search/ensemble.h"
#include "search/sentence_search.h"

namespace verso {

namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

void require(bool holds, const char* name, double value, const char* expected) {
  if (!holds) throw UsageError(cat(name, " is ", value, ", expected ", expected));
}

/// The tensors of a batch of sentences and the order of work; what a sentence does with its
/// candidates is SentenceSearch's.
class BatchSearch {
 public:
  BatchSearch(const std::vector<Seq2Seq>& models, const std::vector<SearchInput>& inputs,
              const SearchOptions& options)
      : models_(models), options_(options), device_(models[0]->device()) {
    std::vector<std::span<const std::int32_t>> sources;
    for (const SearchInput& input : inputs) {
      sources.push_back(input.source);
      sentences_.emplace_back(input, options);
      rows_.push_back(rows_.size());
    }
    for (Seq2Seq& model : models_) {
      TORCH_INTERNAL_ASSERT(!model->is_training(), "search needs evaluation mode");
      memories_.push_back(
          model->encode(make_source_batch(sources, model->spec().model.attend_end, device_)));
      states_.push_back(memories_.back().start);
    }
    ask();
  }

  std::vector<std::vector<Hypothesis>> run() {
    while (!rows_.empty()) step();
    std::vector<std::vector<Hypothesis>> found;
    for (SentenceSearch& sentence : sentences_) found.push_back(sentence.take());
    return found;
  }

 private:
  [[nodiscard]] int64_t rows() const { return static_cast<int64_t>(rows_.size()); }
  [[nodiscard]] SentenceSearch& sentence(int64_t row) {
    return sentences_[rows_[static_cast<std::size_t>(row)]];
  }

  [[nodiscard]] int64_t first(int64_t row) const {
    return first_of_[static_cast<std::size_t>(row)];
  }

  void step();
  void ask();
  [[nodiscard]] std::vector<std::vector<Candidate>> choose(const std::vector<Tensor>& logits);
  /// `scores`: log probabilities, or logits that `normalize` makes such.
  [[nodiscard]] std::vector<std::vector<Candidate>> choose_here(const Tensor& scores,
                                                                bool normalize);
  [[nodiscard]] std::vector<std::vector<Candidate>> choose_on_device(const Tensor& log_probs);
  void follow();

  std::vector<Seq2Seq> models_;
  const SearchOptions& options_;
  torch::Device device_;
  std::vector<SentenceSearch> sentences_;
  std::vector<std::size_t> rows_;  // sentence of each row of the memories; some may be over
  std::vector<Memory> memories_;   // one a model
  std::vector<Tensor> states_;     // one a model, [queries, hidden]
  std::vector<int64_t> row_of_;    // [queries] the live hypotheses of all rows, row by row
  std::vector<int64_t> first_of_;  // [rows] a row's first query
  Tensor words_;                   // [queries] what they read next
};

void BatchSearch::step() {
  std::vector<Tensor> logits, alphas;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    const DecoderStep out = models_[m]->step(memories_[m], {states_[m], words_, row_of_});
    states_[m] = out.state;
    alphas.push_back(out.alpha);
    logits.push_back(models_[m]->logits(out.readout));
  }
  const std::vector<std::vector<Candidate>> chosen = choose(logits);
  const Tensor alpha = ensemble_mean(alphas).to(torch::kCPU, torch::kFloat).contiguous();
  const int64_t source_len = alpha.size(1);
  const float* weights = alpha.data_ptr<float>();
  for (int64_t row = 0; row < rows(); ++row) {
    if (sentence(row).width() == 0) continue;
    sentence(row).advance(chosen[static_cast<std::size_t>(row)], weights + first(row) * source_len,
                          source_len);
  }
  follow();
}

/// Lists the live hypotheses and the words that they read next.
void BatchSearch::ask() {
  row_of_.clear();
  first_of_.clear();
  std::vector<int64_t> words;
  for (int64_t row = 0; row < rows(); ++row) {
    first_of_.push_back(static_cast<int64_t>(row_of_.size()));
    for (int64_t slot = 0; slot < sentence(row).width(); ++slot) {
      row_of_.push_back(row);
      words.push_back(sentence(row).previous(slot));
    }
  }
  words_ = torch::tensor(words, torch::kInt64).to(device_);
}

std::vector<std::vector<Candidate>> BatchSearch::choose(const std::vector<Tensor>& logits) {
  // One model's logits are normalised row by row, on the way to their best words.
  if (logits.size() == 1 && logits[0].scalar_type() == torch::kFloat && device_.is_cpu()) {
    return choose_here(logits[0], true);
  }
  const Tensor log_probs = ensemble_log_probs(logits);
  bool whole_rows = device_.is_cpu() || options_.sample;
  for (int64_t row = 0; row < rows(); ++row) {
    whole_rows = whole_rows || (sentence(row).width() > 0 && sentence(row).forced());
  }
  return whole_rows ? choose_here(log_probs.to(torch::kCPU, torch::kFloat).contiguous(), false)
                    : choose_on_device(log_probs);
}

std::vector<std::vector<Candidate>> BatchSearch::choose_here(const Tensor& scores, bool normalize) {
  const int64_t vocab = scores.size(1);
  float* values = scores.data_ptr<float>();
  std::vector<std::vector<Candidate>> chosen(rows_.size());
  at::parallel_for(0, rows(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      SentenceSearch& search = sentence(row);
      float* rows_first = values + first(row) * vocab;
      for (int64_t slot = 0; slot < search.width(); ++slot) {
        float* log_prob = rows_first + slot * vocab;
        if (normalize) log_softmax_row(vocab, log_prob);
        if (search.forced()) continue;
        log_prob[kPadId] = log_prob[kBeginId] = kImpossible;
        if (options_.no_repeat_ngram == 0) continue;
        for (const std::int32_t word : search.forbidden(slot)) log_prob[word] = kImpossible;
      }
      if (search.width() == 0) continue;
      chosen[static_cast<std::size_t>(row)] = search.choose(rows_first, vocab);
    }
  });
  return chosen;
}

std::vector<std::vector<Candidate>> BatchSearch::choose_on_device(const Tensor& log_probs) {
  log_probs.select(1, kPadId).fill_(kImpossible);
  log_probs.select(1, kBeginId).fill_(kImpossible);
  std::vector<int64_t> places;
  for (int64_t row = 0; options_.no_repeat_ngram > 0 && row < rows(); ++row) {
    for (int64_t slot = 0; slot < sentence(row).width(); ++slot) {
      for (const std::int32_t word : sentence(row).forbidden(slot)) {
        places.push_back((first(row) + slot) * log_probs.size(1) + word);
      }
    }
  }
  if (!places.empty()) {
    log_probs.view({-1}).index_fill_(0, torch::tensor(places, torch::kInt64).to(device_),
                                     kImpossible);
  }
  const int64_t count = std::min(options_.beam, log_probs.size(1));
  const auto [top, ids] = log_probs.topk(count, 1);
  const Tensor values_here = top.to(torch::kCPU, torch::kFloat).contiguous();
  const Tensor ids_here = ids.to(torch::kCPU).contiguous();
  const float* value = values_here.data_ptr<float>();
  const int64_t* id = ids_here.data_ptr<int64_t>();
  std::vector<std::vector<Candidate>> chosen;
  for (int64_t row = 0; row < rows(); ++row) {
    SentenceSearch& search = sentence(row);
    BestCandidates best(search.places());
    for (int64_t slot = 0; slot < search.width(); ++slot) {
      const int64_t begin = (first(row) + slot) * count;
      for (int64_t i = begin; i < begin + count && std::isfinite(value[i]); ++i) {
        best.show({search.sum(slot) + static_cast<double>(value[i]), slot,
                   static_cast<std::int32_t>(id[i]), value[i]});
      }
    }
    chosen.push_back(best.take());
  }
  return chosen;
}

/// Lets states follow the hypotheses that were chosen. Sentences that are over have no queries;
/// they leave padded memories once they are an eighth of them: a row carried along costs a step, a
/// row copied costs its keys.
void BatchSearch::follow() {
  std::vector<int64_t> parents, kept_rows;
  for (int64_t row = 0; row < rows(); ++row) {
    const SentenceSearch& search = sentence(row);
    for (int64_t slot = 0; slot < search.width(); ++slot) {
      parents.push_back(first(row) + search.parent(slot));
    }
    if (search.width() > 0) kept_rows.push_back(row);
  }
  if (parents.empty()) {
    rows_.clear();
    return;
  }
  const Tensor index = torch::tensor(parents, torch::kInt64).to(device_);
  for (Tensor& state : states_) state = state.index_select(0, index);
  const int64_t over = rows() - static_cast<int64_t>(kept_rows.size());
  if (!memories_[0].packed && over > 0 && over * 8 >= rows()) {
    std::vector<std::size_t> kept;
    for (const int64_t row : kept_rows) kept.push_back(rows_[static_cast<std::size_t>(row)]);
    rows_ = std::move(kept);
    for (Memory& memory : memories_) memory = memory.select(kept_rows);
  }
  ask();
}

}  // namespace

void check_search_options(const SearchOptions& o) {
  const auto number = [](std::int64_t value) { return static_cast<double>(value); };
  require(o.beam >= 1, "beam", number(o.beam), "1 or more");
  require(o.nbest >= 1, "n-best", number(o.nbest), "1 or more");
  if (o.nbest > o.beam) {
    throw UsageError(cat("n-best ", o.nbest, " is more than the beam of ", o.beam,
                         " can hold; use a beam of at least ", o.nbest));
  }
  const auto at_least_0 = [](double value) { return std::isfinite(value) && value >= 0; };
  require(at_least_0(o.length_penalty), "length penalty", o.length_penalty, "0 or more");
  require(at_least_0(o.coverage_penalty), "coverage penalty", o.coverage_penalty, "0 or more");
  require(at_least_0(o.max_length_factor), "maximum length factor", o.max_length_factor,
          "0 or more");
  require(o.max_length_extra >= 0, "maximum length extra", number(o.max_length_extra), "0 or more");
  require(o.no_repeat_ngram >= 0, "n-gram size", number(o.no_repeat_ngram), "0 or more");
  require(o.top_k >= 0, "top-k", number(o.top_k), "0 or more");
  require(std::isfinite(o.temperature) && o.temperature > 0, "temperature", o.temperature,
          "more than 0");
}

std::vector<std::vector<Hypothesis>> beam_search(const std::vector<Seq2Seq>& models,
                                                 const std::vector<SearchInput>& inputs,
                                                 const SearchOptions& options) {
  check_search_options(options);
  if (models.empty()) throw UsageError("no model given");
  const c10::InferenceMode no_gradients;
  return BatchSearch(models, inputs, options).run();
}

}  // namespace verso
