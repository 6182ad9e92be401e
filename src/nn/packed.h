#pragma once

#include <cstdint>
#include <vector>

namespace verso {

/// Sentences of different lengths one after another in the rows of a matrix: sentence b has rows
/// first[b] … first[b] + lengths[b] - 1, so that products run over real tokens only.
struct Packed {
  std::vector<int64_t> lengths, first;
  int64_t tokens = 0;
  int64_t longest = 0;

  Packed() = default;
  explicit Packed(std::vector<int64_t> sentence_lengths);
  [[nodiscard]] int64_t sentences() const { return static_cast<int64_t>(lengths.size()); }
};

/// Sentences that one thread takes through a recurrence together, by falling length: at step t the
/// first alive[t] still have a word.
struct SentenceGroup {
  std::vector<int64_t> members;
  std::vector<int64_t> alive;  ///< [length of the longest member]
};

/// Deals the sentences to `count` groups (fewer when there are fewer sentences), lengths evenly.
/// Empty sentences belong to none.
[[nodiscard]] std::vector<SentenceGroup> deal_sentences(const std::vector<int64_t>& lengths,
                                                        int64_t count);

}  // namespace verso
