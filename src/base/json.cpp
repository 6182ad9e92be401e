#include "base/json.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace verso {
namespace {

/// The escape of a line end beyond ASCII that `text` starts with, or "".
std::string_view wide_line_end(std::string_view text) {
  if (text.starts_with("\xC2\x85")) return "\\u0085";
  if (text.starts_with("\xE2\x80\xA8")) return "\\u2028";
  if (text.starts_with("\xE2\x80\xA9")) return "\\u2029";
  return {};
}

void append_ascii(std::string& out, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
    out += "\\u00";
    out += kHex[static_cast<std::size_t>(c) >> 4];
    out += kHex[static_cast<std::size_t>(c) & 0xF];
  } else {
    out += c;
  }
}

}  // namespace

std::string json_quote(std::string_view text) {
  std::string clean;
  if (find_invalid_utf8(text)) text = clean = replace_invalid_utf8(text);
  std::string out = "\"";
  out.reserve(text.size() + 2);
  for (std::size_t i = 0; i < text.size();) {
    if (const std::string_view escape = wide_line_end(text.substr(i)); !escape.empty()) {
      out += escape;
      i += text[i] == '\xC2' ? 2 : 3;
    } else {
      append_ascii(out, text[i++]);
    }
  }
  return out += '"';
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace verso
