#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "align/alignment.h"

/// Soft alignments as text and pictures. Nothing here reads or writes a file. Rows are target
/// tokens, columns source tokens. End symbols are shown where the alignment has them
/// (without_ends() takes them off); an empty pair gives an empty but valid record. `id` is the
/// pair's number, from 0. All throw as check_alignment(). Links are in align/links.h.
namespace verso {

/// One line of JSON Lines, line end included:
///   {"id":0,"source":["das","Haus"],"target":["the","house"],"source_end":false,
///    "target_end":false,"score":-0.25,"matrix":[[0.93,0.07],[0.02,0.98]]}
/// (in one line). matrix [target rows][source columns], 6 decimals each; where source_end is true
/// the last column, where target_end is true the last row is that of the end symbol. score is null
/// when it is not finite.
[[nodiscard]] std::string json_record(const SoftAlignment& alignment, std::int64_t id);

/// The matrix format of Nematus, which other viewers read:
///   id ||| target ||| score ||| source ||| source_columns target_rows
///   one line of weights a target token, a blank after each, and an empty line at the end.
/// The format has the end symbols' row and column always and never names them; they are zeros where
/// the alignment has none. A token "|||", which would end a field, is written "&#124;&#124;&#124;".
[[nodiscard]] std::string nematus_record(const SoftAlignment& alignment, std::int64_t id);

/// A picture as an SVG document of its own: source words above, target words to the left, darker is
/// more, the strongest source word of each target word framed, the value of a cell as its tooltip.
/// Light and dark as the viewer's colour scheme. Well-formed XML whatever the tokens hold.
[[nodiscard]] std::string svg_picture(const SoftAlignment& alignment,
                                      std::string_view title = "alignment");

/// One page with any number of pairs, written as it goes: html_begin(), html_pair() for each,
/// html_end(). Self-contained, nothing is fetched; light and dark; made for a phone as well.
/// Pointing at a word shades the words it is aligned to, pointing at a cell shows its value.
/// Pictures are drawn by the page's script when they come into sight, from the numbers in the page
/// (4 decimals), so that thousands of pairs open at once. Well-formed as XML too.
[[nodiscard]] std::string html_begin(std::string_view title);
[[nodiscard]] std::string html_pair(const SoftAlignment& alignment, std::int64_t id);
[[nodiscard]] std::string html_end();

enum class Colour { kNone, kAnsi };

/// A picture for terminals, two columns a cell, lines ended: Unicode shades, or backgrounds of the
/// 256-colour palette. Each source word stands on a line of its own with a stroke down to its
/// column.
///   das
///   │ Haus
///   ██░░  the
///     ██  house
[[nodiscard]] std::string heat_map(const SoftAlignment& alignment, Colour colour = Colour::kNone);

}  // namespace verso
