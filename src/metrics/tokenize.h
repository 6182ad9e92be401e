#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// How text is cut into words before BLEU counts them; the names are those of sacreBLEU's
/// --tokenize.
enum class BleuTokenizer {
  k13a,   ///< mteval-v13a, WMT's: ASCII punctuation apart, but not inside numbers; four entities
          ///< read
  kNone,  ///< white space only: the text is tokenised already
  kIntl,  ///< mteval-v14 international: Unicode punctuation (not inside numbers) and symbols apart
  kChar,  ///< every character a token, white space dropped
};

/// "13a", "none", "intl" or "char".
[[nodiscard]] std::string_view tokenizer_name(BleuTokenizer tokenizer);

/// The tokens of one line, equal to those sacreBLEU makes of it.
[[nodiscard]] std::vector<std::u32string> bleu_tokens(std::u32string_view line,
                                                      BleuTokenizer tokenizer);

}  // namespace verso
