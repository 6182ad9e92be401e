#pragma once

#include <cstdint>
#include <vector>

#include "search/beam_search.h"
#include "search/candidates.h"

namespace verso {

/// The search of one sentence, without tensors: a tree of tokens, its live leaves ("slots"), what
/// has finished. A step is choose() or a list of candidates made elsewhere, then advance().
class SentenceSearch {
 public:
  /// `input`'s spans and `options` must outlive the object.
  SentenceSearch(const SearchInput& input, const SearchOptions& options);

  /// Live hypotheses; 0 when the search is over.
  [[nodiscard]] std::int64_t width() const { return static_cast<std::int64_t>(live_.size()); }
  /// Token that the model reads next.
  [[nodiscard]] std::int32_t previous(std::int64_t slot) const;
  /// Slot that live hypothesis `slot` was extended from in the last step.
  [[nodiscard]] std::int64_t parent(std::int64_t slot) const { return live_[at(slot)].parent_slot; }
  [[nodiscard]] double sum(std::int64_t slot) const { return live_[at(slot)].sum; }
  /// Hypotheses that may stay live or finish in this step.
  [[nodiscard]] std::int64_t places() const;
  /// True when the next token is given by the prefix.
  [[nodiscard]] bool forced() const { return step_ < input_.prefix.size(); }

  /// Words that would repeat an n-gram in `slot`.
  [[nodiscard]] std::vector<std::int32_t> forbidden(std::int64_t slot) const;

  /// Candidates of this step, best first (sampled ones in the order of slots), from log
  /// probabilities [width, vocab] in which what must not be chosen is -inf. Empty: nothing is
  /// possible.
  [[nodiscard]] std::vector<Candidate> choose(const float* log_probs, std::int64_t vocab);

  /// Makes the candidates finished or live. alpha: rows [width] of `stride` floats, of which the
  /// first source tokens + 1 are this sentence's. Throws NumericError when there is no candidate.
  void advance(const std::vector<Candidate>& candidates, const float* alpha, std::int64_t stride);

  /// The `nbest` best. REQUIRES width() == 0.
  [[nodiscard]] std::vector<Hypothesis> take();

 private:
  struct Node {
    std::int32_t parent;  ///< -1: the first token
    std::int32_t word;
    float log_prob;
    std::int32_t alpha_row;
  };
  struct Live {
    std::int32_t node;  ///< -1: no token yet
    double sum;
    std::int64_t parent_slot;
  };

  [[nodiscard]] static std::size_t at(std::int64_t index) {
    return static_cast<std::size_t>(index);
  }
  [[nodiscard]] std::vector<std::int32_t> history(std::int32_t node) const;
  [[nodiscard]] std::vector<Candidate> draw(const float* log_probs, std::int64_t vocab);
  [[nodiscard]] bool settled() const;
  void finish(std::int32_t last, bool finished);
  void add_score(Hypothesis& hypothesis) const;

  const SearchInput& input_;
  const SearchOptions& options_;
  std::size_t source_len_, limit_;
  std::size_t step_ = 0;
  bool keep_alpha_;
  Random random_;
  std::vector<Node> nodes_;
  std::vector<float> alpha_;  // [rows, source_len]
  std::vector<Live> live_;
  std::vector<Hypothesis> done_;  // best first
};

}  // namespace verso
