#include "search/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace verso {

namespace {

bool better(const Candidate& a, const Candidate& b) {
  if (a.sum != b.sum) return a.sum > b.sum;
  return a.slot != b.slot ? a.slot < b.slot : a.word < b.word;
}

}  // namespace

void BestCandidates::show(const Candidate& candidate) {
  if (heap_.size() == capacity_) {
    if (heap_.empty() || !better(candidate, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), better);
    heap_.pop_back();
  }
  heap_.push_back(candidate);
  std::push_heap(heap_.begin(), heap_.end(), better);
}

void BestCandidates::show_row(const float* row, std::int64_t vocab, std::int64_t slot, double sum) {
  // Rounding the double difference to the nearest float skips no float that lies above it, so the
  // quick test in float never drops a candidate that show() would keep.
  const auto floor = [&] {
    return heap_.size() == capacity_ && !heap_.empty() ? static_cast<float>(heap_.front().sum - sum)
                                                       : std::numeric_limits<float>::lowest();
  };
  float least = floor();
  for (std::int64_t word = 0; word < vocab; ++word) {
    if (!(row[word] >= least)) continue;
    show({sum + static_cast<double>(row[word]), slot, static_cast<std::int32_t>(word), row[word]});
    least = floor();
  }
}

std::vector<Candidate> BestCandidates::take() {
  std::sort(heap_.begin(), heap_.end(), better);
  return std::move(heap_);
}

std::int32_t draw_word(const float* row, std::int64_t vocab, double temperature, std::int64_t top_k,
                       Random& random) {
  std::vector<std::int32_t> words;
  for (std::int64_t word = 0; word < vocab; ++word) {
    if (std::isfinite(row[word])) words.push_back(static_cast<std::int32_t>(word));
  }
  if (words.empty()) return -1;
  if (top_k > 0 && top_k < static_cast<std::int64_t>(words.size())) {
    std::nth_element(words.begin(), words.begin() + top_k, words.end(),
                     [&](auto a, auto b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    words.resize(static_cast<std::size_t>(top_k));
    std::sort(words.begin(), words.end());
  }
  float largest = row[words[0]];
  for (const std::int32_t word : words) largest = std::max(largest, row[word]);
  double total = 0;
  std::vector<double> up_to;
  for (const std::int32_t word : words) {
    total += std::exp((static_cast<double>(row[word]) - largest) / temperature);
    up_to.push_back(total);
  }
  const auto found = std::upper_bound(up_to.begin(), up_to.end(), random.uniform() * total);
  const auto index = std::min<std::ptrdiff_t>(found - up_to.begin(),
                                              static_cast<std::ptrdiff_t>(words.size()) - 1);
  return words[static_cast<std::size_t>(index)];
}

}  // namespace verso
