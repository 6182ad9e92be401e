#include "metrics/unicode.h"

#include <utf8.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/text.h"

namespace verso::unicode {
namespace {

struct CodeRange {
  char32_t first, last;
};

/// Characters first, first + step, … last have a lower case that is `delta` further.
struct LowerRun {
  char32_t first, last;
  std::int32_t step, delta;
};

#include "metrics/unicode_tables.inc"

constexpr char32_t kCapitalSigma = 0x3A3;
constexpr char32_t kFinalSigma = 0x3C2;
constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotAbove = 0x307;

/// The run whose span holds `c`, or null. Runs are sorted and do not overlap.
template <class Run>
const Run* find_run(std::span<const Run> runs, char32_t c) {
  const auto after = std::upper_bound(
      runs.begin(), runs.end(), c, [](char32_t code, const Run& run) { return code < run.first; });
  if (after == runs.begin()) return nullptr;
  const auto run = std::prev(after);
  return c <= run->last ? &*run : nullptr;
}

bool in(std::span<const CodeRange> ranges, char32_t c) { return find_run(ranges, c) != nullptr; }

char32_t lower_case_of(char32_t c) {
  const LowerRun* run = find_run(std::span<const LowerRun>(kLower), c);
  if (run == nullptr || (c - run->first) % static_cast<char32_t>(run->step) != 0) return c;
  return static_cast<char32_t>(static_cast<std::int32_t>(c) + run->delta);
}

/// A capital sigma is final when a cased letter stands before it and none after it, marks and the
/// like between them not counted.
bool is_final_sigma(std::u32string_view text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && in(kCaseIgnorable, text[before - 1])) --before;
  if (before == 0 || !in(kCased, text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && in(kCaseIgnorable, text[after])) ++after;
  return after == text.size() || !in(kCased, text[after]);
}

}  // namespace

std::u32string decode(std::string_view text) {
  const std::string valid =
      find_invalid_utf8(text) ? replace_invalid_utf8(text) : std::string(text);
  std::u32string out;
  out.reserve(valid.size());
  utf8::unchecked::utf8to32(valid.begin(), valid.end(), std::back_inserter(out));
  return out;
}

bool is_space(char32_t c) { return in(kSpaces, c); }
bool is_punctuation(char32_t c) { return in(kPunctuation, c); }
bool is_symbol(char32_t c) { return in(kSymbols, c); }
bool is_number(char32_t c) { return in(kNumbers, c); }

std::u32string lower_case(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == kDottedCapitalI) {
      out += U'i';
      out += kDotAbove;
    } else if (c == kCapitalSigma && is_final_sigma(text, i)) {
      out += kFinalSigma;
    } else {
      out += lower_case_of(c);
    }
  }
  return out;
}

std::vector<std::u32string_view> split(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && !is_space(text[i])) continue;
    if (i > start) words.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  return words;
}

}  // namespace verso::unicode
