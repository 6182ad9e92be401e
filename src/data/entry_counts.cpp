#include "data/entry_counts.h"

#include <algorithm>

namespace verso {

void EntryCounts::add(std::string_view entry, std::int64_t count) {
  const auto found = counts_.find(entry);
  if (found != counts_.end()) {
    found->second += count;
  } else {
    counts_.emplace(entry, count);
  }
}

void EntryCounts::forget_rare(std::int64_t limit) {
  for (std::int64_t rare = 1; size() > limit; rare *= 2) {
    std::erase_if(counts_, [rare](const auto& entry) { return entry.second <= rare; });
  }
}

std::vector<std::pair<std::string, std::int64_t>> EntryCounts::sorted() const {
  std::vector<std::pair<std::string, std::int64_t>> entries(counts_.begin(), counts_.end());
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return entries;
}

}  // namespace verso
