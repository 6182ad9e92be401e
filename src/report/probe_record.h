#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "data/link_format.h"
#include "report/json_lines.h"

namespace verso {

/// The ways on which a gradient reaches an encoder state, as they are named in probe.jsonl.
inline constexpr std::array kPathShares = {"value_share", "key_share", "start_share",
                                           "recurrent_share"};

/// A matrix in two bytes a number: value = number / 32767 * scale; kMissing for what was no number.
/// A run's probe is tens of megabytes of text, of which a page needs no more than that.
struct PackedMatrix {
  static constexpr std::int16_t kMissing = INT16_MIN;

  std::vector<std::int16_t> numbers;  ///< row-major
  double scale = 1;
};

/// One pair at one update. Rows are target tokens, columns source tokens, end symbols included; all
/// is empty where a side has none.
/// Numbers that were null are NaN.
struct ProbeSnapshot {
  std::int64_t update = 0;
  double loss = 0;                       ///< -log p(target | source)
  PackedMatrix alpha;                    ///< attention weights; scale 1
  PackedMatrix advantage;                ///< g - sum_k alpha_k g_k, with g = dL/dalpha
  std::vector<double> mean;              ///< [rows] sum_k alpha_k g_k, so that g = mean + advantage
  std::vector<double> context_gradient;  ///< [rows] |dL/dc_t|
  std::vector<double> state_gradient;    ///< [columns] |dL/dh_j|
  std::array<std::vector<double>, kPathShares.size()> shares;  ///< [paths][columns]
};

/// A probe pair and how its attention developed.
struct ProbePair {
  std::int64_t id = 0;
  std::vector<std::string> source, target;
  bool source_end = false, target_end = false;
  std::string note;                      ///< shown beside the pair; "" for none
  std::vector<Link> gold;                ///< none: no gold links are known
  std::vector<ProbeSnapshot> snapshots;  ///< updates ascend

  [[nodiscard]] std::size_t columns() const { return source.size() + (source_end ? 1 : 0); }
  [[nodiscard]] std::size_t rows() const { return target.size() + (target_end ? 1 : 0); }
};

/// A line of probe.jsonl, or its object of another file with "update" and "pair". Throws DataError
/// for what is none.
[[nodiscard]] ProbePair read_probed_pair(const std::string& line);

/// The pairs of probe.jsonl, one line a pair and probed update, by id. A line whose numbers do not
/// fit its words, or whose words are not those of the pair's first line, is damaged. Of two lines
/// for one pair and update the later counts, of gold links the last line's: a resumed run may have
/// others. No such file: no pairs. Throws DataError when it
/// cannot be read.
[[nodiscard]] std::vector<ProbePair> read_probe(const std::string& path, DamagedLines& damaged);

}  // namespace verso
