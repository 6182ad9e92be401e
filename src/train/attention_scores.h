#pragma once

#include <atomic>
#include <optional>

#include "data/corpus.h"
#include "model/translation_model.h"

namespace verso {

/// What attention is like on given pairs, the model reading the true previous words.
struct AttentionScores {
  /// Error rate of the links (one a target word) against the pairs' gold links, read with the
  /// model's shift; nothing without gold links.
  std::optional<double> aer;
  /// Mean over target tokens, end symbols included, of - sum_j alpha_tj log alpha_tj, nats.
  double entropy = 0;
  /// Mean over source tokens, without end symbols, of min(1, sum_t alpha_tj).
  double coverage = 0;
};

/// Scores of `text`'s pairs that have tokens on both sides. REQUIRES the network in evaluation
/// mode. Nothing when `stop` became non-zero meanwhile.
[[nodiscard]] std::optional<AttentionScores> attention_scores(const TranslationModel& model,
                                                              const ParallelText& text,
                                                              const std::atomic<int>& stop);

}  // namespace verso
