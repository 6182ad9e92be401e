#include "nn/packed.h"

#include <algorithm>
#include <numeric>

namespace verso {

Packed::Packed(std::vector<int64_t> sentence_lengths) : lengths(std::move(sentence_lengths)) {
  for (const int64_t length : lengths) {
    first.push_back(tokens);
    tokens += length;
    longest = std::max(longest, length);
  }
}

std::vector<SentenceGroup> deal_sentences(const std::vector<int64_t>& lengths, int64_t count) {
  std::vector<int64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](int64_t b) { return lengths[static_cast<std::size_t>(b)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return length(a) > length(b); });
  while (!order.empty() && length(order.back()) == 0) order.pop_back();
  std::vector<SentenceGroup> groups(
      std::min(static_cast<std::size_t>(std::max<int64_t>(count, 1)), order.size()));
  // Back and forth, so that no group gets the longer one of every pair.
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t round = i / groups.size(), place = i % groups.size();
    groups[round % 2 == 0 ? place : groups.size() - 1 - place].members.push_back(order[i]);
  }
  for (SentenceGroup& group : groups) {
    auto alive = static_cast<int64_t>(group.members.size());
    for (int64_t t = 0; t < length(group.members.front()); ++t) {
      while (length(group.members[static_cast<std::size_t>(alive) - 1]) <= t) --alive;
      group.alive.push_back(alive);
    }
  }
  return groups;
}

}  // namespace verso
