#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace verso {

/// How often each n-gram occurs. A sequence is a string of 32-bit symbols (characters, or numbers
/// given to words), an n-gram a view into it: the sequence has to outlive the counts.
using NgramCounts = std::unordered_map<std::u32string_view, std::int64_t>;

[[nodiscard]] inline NgramCounts count_ngrams(std::u32string_view sequence, std::int64_t order) {
  NgramCounts counts;
  const auto size = static_cast<std::int64_t>(sequence.size());
  for (std::int64_t start = 0; start + order <= size; ++start) {
    ++counts[sequence.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(order))];
  }
  return counts;
}

/// Numbers for words, so that sequences of words are strings of symbols too.
class WordNumbers {
 public:
  /// The numbers of `words` (anything that a std::u32string can be made of), new ones given as
  /// needed.
  template <class Words>
  [[nodiscard]] std::u32string sequence(const Words& words) {
    std::u32string out;
    for (const auto& word : words) {
      const auto next = static_cast<char32_t>(numbers_.size());
      out += numbers_.try_emplace(std::u32string(word), next).first->second;
    }
    return out;
  }

 private:
  std::unordered_map<std::u32string, char32_t> numbers_;
};

}  // namespace verso
