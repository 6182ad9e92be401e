#include "data/reserved_characters.h"

#include <array>
#include <utility>

#include "data/piece_table.h"

namespace verso {
namespace {

using std::string_view_literals::operator""sv;

// Character of a text, and what stands for it in pieces.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kReserved{{
    {kWordMark, "\xef\xb7\x90"sv},
    {"\xe2\x96\x85"sv, "\xef\xb7\x91"sv},
    {"\0"sv, "\xef\xb7\x92"sv},
}};
constexpr std::string_view kStandInStart = "\xef\xb7"sv;  // of U+FDC0 to U+FDFF

bool is_stand_in(std::string_view text) {
  return text.size() >= 3 && text.starts_with(kStandInStart) && text[2] >= '\x90' &&
         text[2] <= '\x93';
}

}  // namespace

std::string hide_reserved(std::string_view token) {
  std::string hidden;
  hidden.reserve(token.size());
  for (std::size_t i = 0; i < token.size();) {
    const std::string_view rest = token.substr(i);
    std::string_view from = rest.substr(0, 1), to = from;
    if (is_stand_in(rest)) {
      from = rest.substr(0, 3);
      to = kNeverInPiece;
    }
    for (const auto& [character, stand_in] : kReserved) {
      if (!rest.starts_with(character)) continue;
      from = character;
      to = stand_in;
    }
    hidden += to;
    i += from.size();
  }
  return hidden;
}

std::string show_reserved(std::string_view piece) {
  std::string shown;
  for (std::size_t i = 0; i < piece.size();) {
    const std::string_view rest = piece.substr(i);
    std::string_view from = rest.substr(0, 1), to = from;
    if (rest.starts_with(kWordMark)) {
      from = kWordMark;
      to = " ";
    }
    for (const auto& [character, stand_in] : kReserved) {
      if (!rest.starts_with(stand_in)) continue;
      from = stand_in;
      to = character;
    }
    shown += to;
    i += from.size();
  }
  return shown;
}

std::vector<std::string_view> cut_runs(std::string_view text) {
  std::vector<std::string_view> runs;
  std::size_t begin = 0, characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (characters == kLongestRun) {
      runs.push_back(text.substr(begin, i - begin));
      begin = i;
      characters = 0;
    }
    ++characters;
  }
  runs.push_back(text.substr(begin));
  return runs;
}

}  // namespace verso
