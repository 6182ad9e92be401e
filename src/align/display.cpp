#include "align/display.h"

#include <utf8.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <span>

#include "base/text.h"

namespace verso {
namespace {

struct WidthRange {
  char32_t first, last;
};

#include "align/width_tables.inc"

constexpr char32_t kReplacement = 0xFFFD;
constexpr char32_t kDeletePicture = 0x2421;
constexpr char32_t kNewlinePicture = 0x2424;
constexpr std::string_view kEllipsis = "…";

bool in(std::span<const WidthRange> ranges, char32_t c) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), c,
                       [](char32_t code, const WidthRange& range) { return code < range.first; });
  return after != ranges.begin() && c <= std::prev(after)->last;
}

char32_t visible_character(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return kDeletePicture;
  if (c == 0x85 || c == 0x2028 || c == 0x2029) return kNewlinePicture;
  const bool control = c >= 0x80 && c < 0xA0;
  const bool reorders = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  const bool noncharacter = (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
  return control || reorders || noncharacter ? kReplacement : c;
}

std::int64_t width_of(char32_t c) {
  if (in(kZeroWidth, c)) return 0;
  return in(kWide, c) ? 2 : 1;
}

}  // namespace

std::string visible(std::string_view text) {
  const std::string valid = replace_invalid_utf8(text);
  std::string out;
  out.reserve(valid.size());
  for (auto at = valid.begin(); at != valid.end();) {
    utf8::unchecked::append(visible_character(utf8::unchecked::next(at)), std::back_inserter(out));
  }
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::int64_t display_width(std::string_view text) {
  std::int64_t width = 0;
  for (auto at = text.begin(); at != text.end();) width += width_of(utf8::unchecked::next(at));
  return width;
}

std::string shorten(std::string_view text, std::int64_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  std::int64_t width = display_width(kEllipsis);
  auto at = text.begin();
  while (at != text.end()) {
    auto next = at;
    const std::int64_t added = width_of(utf8::unchecked::next(next));
    if (width + added > columns) break;
    width += added;
    at = next;
  }
  return std::string(text.begin(), at) + std::string(kEllipsis);
}

void append_fixed(std::string& out, double value, int digits) {
  // The longest double has 309 digits before the point.
  char buffer[std::numeric_limits<double>::max_exponent10 + 40];
  const auto [end, error] =
      std::to_chars(std::begin(buffer), std::end(buffer), value, std::chars_format::fixed, digits);
  std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  if (text.starts_with('-') && text.find_first_not_of("-0.") == text.npos) text.remove_prefix(1);
  out += text;
}

}  // namespace verso
