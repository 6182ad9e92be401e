#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// Longest run of characters that is cut into pieces at once; longer tokens are cut in runs of it.
inline constexpr std::size_t kLongestRun = 1000;

/// Stands for characters that no piece may hold.
inline constexpr std::string_view kNeverInPiece = "\xef\xb7\x93";  // U+FDD3

/// Exchanges the characters that SentencePiece keeps for itself; see subword_vocabulary.h.
[[nodiscard]] std::string hide_reserved(std::string_view token);

/// The opposite, for a piece; its word marks become spaces.
[[nodiscard]] std::string show_reserved(std::string_view piece);

/// `text` in runs of at most kLongestRun characters. REQUIRES valid UTF-8.
[[nodiscard]] std::vector<std::string_view> cut_runs(std::string_view text);

}  // namespace verso
