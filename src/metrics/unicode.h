#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Text as scoring sees it: code points, with the character classes of sacreBLEU's own libraries.
/// These rules are wider than those of base/text.h on purpose (U+00A0 separates words here),
/// because scores have to equal sacreBLEU's.
namespace verso::unicode {

/// Code points of UTF-8 text; what is not valid UTF-8 becomes U+FFFD.
[[nodiscard]] std::u32string decode(std::string_view text);

[[nodiscard]] bool is_space(char32_t c);
[[nodiscard]] bool is_punctuation(char32_t c);  ///< general category P
[[nodiscard]] bool is_symbol(char32_t c);       ///< general category S
[[nodiscard]] bool is_number(char32_t c);       ///< general category N

/// Full lower case: U+0130 becomes two characters, a capital sigma at the end of a word the final
/// one.
[[nodiscard]] std::u32string lower_case(std::u32string_view text);

/// Words between runs of is_space(); views into `text`.
[[nodiscard]] std::vector<std::u32string_view> split(std::u32string_view text);

}  // namespace verso::unicode
