#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace verso {

/// xoshiro256** seeded by splitmix64: the same numbers on every platform, a state small enough to
/// save. Used for everything that is not a tensor (shuffles, word dropout choices, sampling).
class Random {
 public:
  /// Streams with the same seed and different `stream` are independent.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, bound). REQUIRES bound > 0. Unbiased.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1) with 53 bits.
  [[nodiscard]] double uniform();

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  /// The state as text, and back (throws DataError on anything else).
  [[nodiscard]] std::string state() const;
  void set_state(const std::string& state);

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace verso
