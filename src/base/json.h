#pragma once

#include <string>
#include <string_view>

namespace verso {

/// `text` as a JSON string, quotes included: quote, backslash and control characters are escaped,
/// everything else stays UTF-8; invalid bytes become U+FFFD. No line end is left inside, so a
/// record of JSON Lines stays one line (U+2028, U+2029 and U+0085 are escaped too, for readers that
/// split lines there).
[[nodiscard]] std::string json_quote(std::string_view text);

/// A number that reads back as the same double ("0.1", "1e-08", "2.0"). JSON has no infinity and no
/// NaN: these give "null".
[[nodiscard]] std::string json_number(double value);

}  // namespace verso
