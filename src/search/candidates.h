#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"

namespace verso {

/// A live hypothesis extended by a word.
struct Candidate {
  double sum = 0;         ///< sum of log probabilities, the word's included
  std::int64_t slot = 0;  ///< which live hypothesis
  std::int32_t word = 0;
  float log_prob = 0;  ///< the word's
};

/// Keeps the best `capacity` candidates it is shown: falling sum, then rising slot, then rising
/// word.
class BestCandidates {
 public:
  explicit BestCandidates(std::int64_t capacity) : capacity_(static_cast<std::size_t>(capacity)) {}

  /// Shows every word of `slot`, whose log probabilities are row[0 … vocab). Words of probability 0
  /// (and NaN) are no candidates.
  void show_row(const float* row, std::int64_t vocab, std::int64_t slot, double sum);
  void show(const Candidate& candidate);

  /// Best first.
  [[nodiscard]] std::vector<Candidate> take();

 private:
  std::size_t capacity_;
  std::vector<Candidate> heap_;  // worst in front
};

/// Draws a word with probability proportional to exp(row[word] / temperature), among the `top_k`
/// best (0 = all); -1 when no word has a finite log probability.
[[nodiscard]] std::int32_t draw_word(const float* row, std::int64_t vocab, double temperature,
                                     std::int64_t top_k, Random& random);

}  // namespace verso
