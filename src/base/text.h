#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// Concatenates anything that has operator<<; the one way messages are built (std::format is not
/// in g++ 12, and fmt's headers clash with those that pip's torch carries).
template <class... Args>
[[nodiscard]] std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return out.str();
}

/// `value` with `digits` decimals, as printf's %.*f in the C locale.
[[nodiscard]] std::string fixed(double value, int digits);

/// Space, TAB, LF, VT, FF, CR. Nothing else separates tokens: U+00A0, U+3000, U+2028, U+0085 and
/// NUL are content.
[[nodiscard]] constexpr bool is_ascii_space(char c) noexcept {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// The tokens of a line: runs of ASCII white space separate, ends are trimmed; equals `awk NF`.
/// The views point into `line`.
[[nodiscard]] std::vector<std::string_view> split_tokens(std::string_view line);

/// `line` with every run of ASCII white space made one space and the ends trimmed.
[[nodiscard]] std::string normalize_spaces(std::string_view line);

/// Offset of the first byte that is not valid UTF-8 (surrogates, overlong forms and values above
/// U+10FFFF are invalid), or nothing.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view text);

/// `text` with each invalid byte sequence replaced by U+FFFD.
[[nodiscard]] std::string replace_invalid_utf8(std::string_view text);

/// The characters (code points) of valid UTF-8 text, as views into it.
/// REQUIRES valid UTF-8; throws DataError otherwise.
[[nodiscard]] std::vector<std::string_view> split_characters(std::string_view text);

/// The nearest of `names` in bytes added, left out or replaced and neighbours swapped, when near
/// enough to be meant, else "".
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       const std::vector<std::string>& names);

}  // namespace verso
