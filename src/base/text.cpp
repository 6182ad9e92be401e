#include "base/text.h"

#include <utf8.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/error.h"

namespace verso {
namespace {

/// Bytes of the longest beginning of `text` that could be a character's first bytes; at least one.
/// `text` starts at a byte that find_invalid_utf8() names.
std::size_t broken_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  const bool two = lead >= 0xC2 && lead <= 0xF4 && continues(1);
  if (!two || lead < 0xE0) return 1;
  const unsigned second = byte(1);
  if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
      (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) {
    return 1;
  }
  return lead >= 0xF0 && continues(2) ? 3 : 2;
}

/// Fewest bytes added, left out or replaced, or neighbours swapped, that make `b` of `a` (optimal
/// string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);  // distances of a's first i bytes to b's first j
  std::vector<std::size_t> above(row.size()), two_above(row.size());
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    two_above.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], two_above[j - 2] + 1);
      }
    }
  }
  return row.back();
}

}  // namespace

std::string fixed(double value, int digits) {
  // Room for the largest double (309 digits), sign, point and as many decimals as anybody asks for.
  std::string text(static_cast<std::size_t>(std::max(digits, 0)) + 320, '\0');
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, std::max(digits, 0));
  text.resize(static_cast<std::size_t>(end.ptr - text.data()));
  return text;
}

std::vector<std::string_view> split_tokens(std::string_view line) {
  std::vector<std::string_view> tokens;
  std::size_t i = 0;
  while (true) {
    while (i < line.size() && is_ascii_space(line[i])) ++i;
    if (i == line.size()) return tokens;
    const std::size_t begin = i;
    while (i < line.size() && !is_ascii_space(line[i])) ++i;
    tokens.push_back(line.substr(begin, i - begin));
  }
}

std::string normalize_spaces(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  for (const std::string_view token : split_tokens(line)) {
    if (!text.empty()) text += ' ';
    text += token;
  }
  return text;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view text) {
  const auto invalid = utf8::find_invalid(text.begin(), text.end());
  if (invalid == text.end()) return std::nullopt;
  return static_cast<std::size_t>(invalid - text.begin());
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (const auto bad = find_invalid_utf8(text)) {
    clean += text.substr(0, *bad);
    clean += "\xEF\xBF\xBD";
    text.remove_prefix(*bad);
    text.remove_prefix(broken_length(text));
  }
  return clean += text;
}

std::vector<std::string_view> split_characters(std::string_view text) {
  if (const auto bad = find_invalid_utf8(text)) {
    throw DataError(cat("text is not valid UTF-8 at byte ", *bad + 1));
  }
  std::vector<std::string_view> characters;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    characters.push_back(text.substr(i, end - i));
    i = end;
  }
  return characters;
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t smallest = std::string_view::npos;
  for (const std::string& candidate : names) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    const std::size_t shorter = std::min(name.size(), candidate.size());
    const std::size_t limit = std::max<std::size_t>(longer / 3, 1);
    if (shorter < 2 || longer - shorter > limit) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance <= limit && distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace verso
