#pragma once

#include <string>

#include "report/run_record.h"

namespace verso {

/// Updates on the slider at most, and points of a curve: a longer run is thinned for the page.
inline constexpr std::size_t kMostSnapshots = 200;
inline constexpr std::size_t kMostPoints = 2000;

/// The numbers that the page's script draws, as JSON in which <, > and & are escaped, so that no
/// word can end the element that it stands in.
///   {"train": {"update": [..], "loss": [..], ..}, "validation": {..}, "probe": {..},
///    "pairs": [{"id": 0, "note": "", "source": [..], "target": [..], "gold": [[source, target,
///    sure], ..],
///      "snapshots": [{"update": 20, "loss": 12.5, "alpha": PACKED, "advantage": PACKED,
///        "scale": .., "mean": [..], "context": [..], "state": [..], "shares": [[..] x 4]}, ..]}]}
/// PACKED is base64 of a PackedMatrix's numbers, little-endian; "scale" is the advantage's. Words
/// are visible(), the end symbols' labels are among them. What is no number is null.
/// Of more than kMostSnapshots probed updates an even choice is left, first and last among them;
/// points of a curve beyond kMostPoints are averaged over neighbours.
[[nodiscard]] std::string page_data(const RunRecord& run);

/// The updates on the slider: all that a pair was probed at, thinned as above. Ascending.
[[nodiscard]] std::vector<std::int64_t> shown_updates(const std::vector<ProbePair>& pairs);

}  // namespace verso
