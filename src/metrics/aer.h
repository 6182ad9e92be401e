#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace verso {

/// A source and a target word, by index from 0.
using WordPair = std::pair<std::int32_t, std::int32_t>;

/// Alignment error rate of Och and Ney 2003 (J03-1002), summed over sentences, with A the links
/// scored, S the sure gold links, P the sure and the possible ones:
///   precision = |A and P| / |A|,  recall = |A and S| / |S|,  F1 their harmonic mean,
///   AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
/// A quotient of nothing by nothing is 0 (AER too); all values lie in [0, 1].
class AlignmentErrors {
 public:
  /// Adds a sentence. Links given twice count once; `possible` need not repeat the sure ones.
  void add(const std::vector<WordPair>& links, const std::vector<WordPair>& sure,
           const std::vector<WordPair>& possible);

  [[nodiscard]] double aer() const;
  [[nodiscard]] double precision() const;
  [[nodiscard]] double recall() const;
  [[nodiscard]] double f1() const;

  [[nodiscard]] std::int64_t links() const { return links_; }
  [[nodiscard]] std::int64_t sure() const { return sure_; }
  [[nodiscard]] std::int64_t possible() const { return possible_; }

 private:
  std::int64_t links_ = 0, sure_ = 0, possible_ = 0;
  std::int64_t in_sure_ = 0, in_possible_ = 0;
};

}  // namespace verso
