#include "base/random.h"

#include <bit>
#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr std::size_t kHexDigits = 16;

/// One step of splitmix64: advances `state` and gives a number.
std::uint64_t splitmix64(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  // The stream is mixed before it meets the seed, so that (1, 2) and (2, 1) have nothing in common.
  std::uint64_t mixed = seed ^ splitmix64(stream);
  for (std::uint64_t& word : state_) word = splitmix64(mixed);
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) {
  // Numbers under 2^64 mod bound would make the small results more likely: they are drawn again.
  const std::uint64_t reject_below = (0 - bound) % bound;
  while (true) {
    const std::uint64_t drawn = next();
    if (drawn >= reject_below) return drawn % bound;
  }
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::string Random::state() const {
  std::string text;
  for (const std::uint64_t word : state_) {
    std::array<char, kHexDigits> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), word, 16).ptr;
    const auto used = static_cast<std::size_t>(end - digits.data());
    if (!text.empty()) text += ' ';
    text.append(kHexDigits - used, '0').append(digits.data(), used);
  }
  return text;
}

void Random::set_state(const std::string& state) {
  const std::vector<std::string_view> words = split_tokens(state);
  std::array<std::uint64_t, 4> parsed{};
  bool good = words.size() == parsed.size();
  std::uint64_t any = 0;
  for (std::size_t i = 0; good && i < parsed.size(); ++i) {
    const char* end = words[i].data() + words[i].size();
    const auto result = std::from_chars(words[i].data(), end, parsed[i], 16);
    good = words[i].size() == kHexDigits && result.ec == std::errc() && result.ptr == end;
    any |= parsed[i];
  }
  if (!good || any == 0) {
    throw DataError(cat("\"", replace_invalid_utf8(state.substr(0, 80)),
                        "\" is not the state of a random generator; expected four words of 16 "
                        "hexadecimal digits, not all zero"));
  }
  state_ = parsed;
}

}  // namespace verso
