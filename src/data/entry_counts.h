#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace verso {

/// Lets tables with std::string keys be searched with a view, without making a string.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};
template <class Value>
using TextMap = std::unordered_map<std::string, Value, TextHash, std::equal_to<>>;

/// How often each word or character occurs.
class EntryCounts {
 public:
  void add(std::string_view entry, std::int64_t count = 1);
  [[nodiscard]] bool empty() const noexcept { return counts_.empty(); }
  [[nodiscard]] std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(counts_.size());
  }
  /// Forgets the rarest entries until at most `limit` are left (all of one count together).
  void forget_rare(std::int64_t limit);
  /// Most frequent first, equally frequent ones by bytes: the same order on every machine.
  [[nodiscard]] std::vector<std::pair<std::string, std::int64_t>> sorted() const;

 private:
  TextMap<std::int64_t> counts_;
};

}  // namespace verso
