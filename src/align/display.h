#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Tokens made fit to be shown. A token is any text without white space: any script, markup
/// characters, NUL and other controls, even invalid UTF-8.
namespace verso {

/// `text` as valid UTF-8 that can be printed: a control character becomes its picture (U+2400…, for
/// line separators U+2424), what reorders or is no character becomes U+FFFD, and so do invalid
/// bytes. A token can then neither move a terminal's cursor nor turn the text around it.
[[nodiscard]] std::string visible(std::string_view text);

/// visible(text) for XML and HTML text and attributes: & < > " ' as entities.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// Columns of a terminal that visible text takes: 2 for East Asian wide characters and most emoji,
/// 0 for combining marks. REQUIRES valid UTF-8.
[[nodiscard]] std::int64_t display_width(std::string_view text);

/// `text` cut to at most `columns` columns, with U+2026 at its end when something was cut.
/// REQUIRES valid UTF-8, columns > 0.
[[nodiscard]] std::string shorten(std::string_view text, std::int64_t columns);

/// Appends `value` with `digits` decimals ("0.9312"; never "-0.0000"), whatever the locale.
/// REQUIRES a finite value.
void append_fixed(std::string& out, double value, int digits);

}  // namespace verso
