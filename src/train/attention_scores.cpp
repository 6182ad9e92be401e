#include "train/attention_scores.h"

#include <algorithm>
#include <cmath>

#include "align/forced_links.h"

namespace verso {
namespace {

constexpr std::size_t kPairsAtATime = 200;  // between two looks at the stop flag

/// Sums over pairs.
struct Sums {
  double entropy = 0, coverage = 0;
  std::int64_t target_tokens = 0, source_tokens = 0;

  void add(const ForcedPair& pair) {
    const std::size_t columns = pair.source.ids.size() + 1;
    std::vector<double> seen(columns);
    for (std::size_t i = 0; i < pair.alpha.size(); ++i) {
      const auto weight = static_cast<double>(pair.alpha[i]);
      if (weight > 0) entropy -= weight * std::log(weight);
      seen[i % columns] += weight;
    }
    for (std::size_t j = 0; j + 1 < columns; ++j) coverage += std::min(1.0, seen[j]);
    target_tokens += std::ssize(pair.token_log_probs);
    source_tokens += std::ssize(pair.source.ids);
  }
};

template <class Item>
std::vector<Item> part_of(const std::vector<Item>& all, std::size_t first, std::size_t last) {
  return {all.begin() + static_cast<std::ptrdiff_t>(first),
          all.begin() + static_cast<std::ptrdiff_t>(last)};
}

}  // namespace

std::optional<AttentionScores> attention_scores(const TranslationModel& model,
                                                const ParallelText& text,
                                                const std::atomic<int>& stop) {
  Sums sums;
  AlignmentErrors errors;
  ForcedOptions options;
  options.shift = usual_shift(model);
  for (std::size_t first = 0; first < text.source.size(); first += kPairsAtATime) {
    if (stop != 0) return {};
    const std::size_t last = std::min(text.source.size(), first + kPairsAtATime);
    const auto source = part_of(text.source, first, last);
    const auto target = part_of(text.target, first, last);
    const std::vector<ForcedPair> pairs = forced_decode({&model}, source, target, options);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i].alpha.empty()) sums.add(pairs[i]);
      if (text.links.empty()) continue;
      const SoftAlignment words = without_ends(word_alignment(pairs[i], source[i], target[i]));
      add_links(errors, extract_links(words), text.links[first + i]);
    }
  }
  AttentionScores scores;
  if (!text.links.empty()) scores.aer = errors.aer();
  if (sums.target_tokens > 0) {
    scores.entropy = sums.entropy / static_cast<double>(sums.target_tokens);
    scores.coverage = sums.coverage / static_cast<double>(sums.source_tokens);
  }
  return scores;
}

}  // namespace verso
