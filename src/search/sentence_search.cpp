#include "search/sentence_search.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/vocabulary.h"

namespace verso {

namespace {

std::size_t length_limit(const SearchInput& input, const SearchOptions& options) {
  const double most = options.max_length_factor * static_cast<double>(input.source.size()) +
                      static_cast<double>(options.max_length_extra);
  const std::size_t least = input.prefix.size() + 1;
  return std::max(least, static_cast<std::size_t>(std::clamp(most, 1.0, 1e6)));
}

}  // namespace

SentenceSearch::SentenceSearch(const SearchInput& input, const SearchOptions& options)
    : input_(input),
      options_(options),
      source_len_(input.source.size() + 1),
      limit_(length_limit(input, options)),
      keep_alpha_(options.attention || options.coverage_penalty > 0),
      random_(options.seed, input.stream),
      live_{{-1, 0.0, 0}} {}

std::int32_t SentenceSearch::previous(std::int64_t slot) const {
  const std::int32_t node = live_[at(slot)].node;
  return node < 0 ? kBeginId : nodes_[at(node)].word;
}

std::int64_t SentenceSearch::places() const {
  return options_.beam - static_cast<std::int64_t>(done_.size());
}

std::vector<std::int32_t> SentenceSearch::history(std::int32_t node) const {
  std::vector<std::int32_t> path;
  for (; node >= 0; node = nodes_[at(node)].parent) path.push_back(node);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<std::int32_t> SentenceSearch::forbidden(std::int64_t slot) const {
  std::vector<std::int32_t> words, found;
  for (const std::int32_t node : history(live_[at(slot)].node)) {
    words.push_back(nodes_[at(node)].word);
  }
  const std::size_t context = at(options_.no_repeat_ngram - 1);
  if (words.size() < context) return found;
  const auto last = words.end() - static_cast<std::ptrdiff_t>(context);
  for (std::size_t i = 0; i + context < words.size(); ++i) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::equal(last, words.end(), begin)) found.push_back(words[i + context]);
  }
  return found;
}

std::vector<Candidate> SentenceSearch::choose(const float* log_probs, std::int64_t vocab) {
  if (forced()) {
    const std::int32_t word = input_.prefix[step_];
    const float log_prob = log_probs[word];
    if (!std::isfinite(log_prob)) return {};
    return {{live_[0].sum + static_cast<double>(log_prob), 0, word, log_prob}};
  }
  if (options_.sample) return draw(log_probs, vocab);
  BestCandidates best(places());
  for (std::int64_t slot = 0; slot < width(); ++slot) {
    best.show_row(log_probs + slot * vocab, vocab, slot, sum(slot));
  }
  return best.take();
}

std::vector<Candidate> SentenceSearch::draw(const float* log_probs, std::int64_t vocab) {
  // All samples part at the first free token; from then on each goes its own way.
  const std::int64_t draws = step_ == input_.prefix.size() ? options_.beam : 1;
  std::vector<Candidate> drawn;
  for (std::int64_t slot = 0; slot < width(); ++slot) {
    const float* row = log_probs + slot * vocab;
    for (std::int64_t i = 0; i < draws; ++i) {
      const std::int32_t word =
          draw_word(row, vocab, options_.temperature, options_.top_k, random_);
      if (word < 0) return {};
      drawn.push_back({sum(slot) + static_cast<double>(row[word]), slot, word, row[word]});
    }
  }
  return drawn;
}

void SentenceSearch::advance(const std::vector<Candidate>& candidates, const float* alpha,
                             std::int64_t stride) {
  if (candidates.empty()) {
    throw NumericError(
        "the model gives no word a finite probability; its parameters are damaged (a diverged "
        "run?)");
  }
  const auto first_row = static_cast<std::int32_t>(alpha_.size() / source_len_);
  if (keep_alpha_) {
    for (std::int64_t slot = 0; slot < width(); ++slot) {
      const float* row = alpha + slot * stride;
      alpha_.insert(alpha_.end(), row, row + source_len_);
    }
  }
  std::vector<Live> next;
  for (const Candidate& candidate : candidates) {
    const auto node = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back({live_[at(candidate.slot)].node, candidate.word, candidate.log_prob,
                      first_row + static_cast<std::int32_t>(candidate.slot)});
    if (candidate.word == kEndId) {
      finish(node, true);
    } else {
      next.push_back({node, candidate.sum, candidate.slot});
    }
  }
  live_ = std::move(next);
  ++step_;
  if (step_ == limit_) {
    for (const Live& live : live_) finish(live.node, false);
    live_.clear();
  } else if (settled()) {
    live_.clear();
  }
}

bool SentenceSearch::settled() const {
  const auto wanted = at(options_.nbest);
  if (options_.sample || done_.size() < wanted) return false;
  double largest = -INFINITY;
  for (const Live& live : live_) largest = std::max(largest, live.sum);
  // Log probabilities and coverage only fall; the length that divides is at most the limit.
  const double bound = largest / std::pow(static_cast<double>(limit_), options_.length_penalty);
  return bound <= done_[wanted - 1].score;
}

void SentenceSearch::finish(std::int32_t last, bool finished) {
  Hypothesis hypothesis;
  hypothesis.finished = finished;
  for (const std::int32_t index : history(last)) {
    const Node& node = nodes_[at(index)];
    if (node.word != kEndId) hypothesis.ids.push_back(node.word);
    hypothesis.token_log_probs.push_back(node.log_prob);
    hypothesis.log_prob += static_cast<double>(node.log_prob);
    if (keep_alpha_) {
      const float* row = alpha_.data() + at(node.alpha_row) * source_len_;
      hypothesis.alpha.insert(hypothesis.alpha.end(), row, row + source_len_);
    }
  }
  add_score(hypothesis);
  if (!options_.attention) hypothesis.alpha.clear();
  const auto place =
      std::upper_bound(done_.begin(), done_.end(), hypothesis,
                       [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  done_.insert(place, std::move(hypothesis));
}

void SentenceSearch::add_score(Hypothesis& hypothesis) const {
  const std::size_t rows = hypothesis.token_log_probs.size();
  const double length = static_cast<double>(std::max<std::size_t>(rows, 1));
  hypothesis.score = hypothesis.log_prob / std::pow(length, options_.length_penalty);
  if (options_.coverage_penalty <= 0) return;
  double coverage = 0;
  for (std::size_t j = 0; j + 1 < source_len_; ++j) {
    double seen = 0;
    for (std::size_t t = 0; t < rows; ++t) seen += hypothesis.alpha[t * source_len_ + j];
    coverage += std::log(std::clamp(seen, 1e-10, 1.0));
  }
  hypothesis.score += options_.coverage_penalty * coverage;
}

std::vector<Hypothesis> SentenceSearch::take() {
  if (done_.size() > at(options_.nbest)) done_.resize(at(options_.nbest));
  return std::move(done_);
}

}  // namespace verso
