#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/json_lines.h"
#include "report/probe_record.h"

namespace verso {

/// Numbers over updates: what metrics.jsonl holds of one kind. NaN where a number is missing.
struct Curves {
  std::vector<std::string_view> names;       ///< keys of metrics.jsonl
  std::vector<std::int64_t> updates;         ///< ascending
  std::vector<std::vector<double>> columns;  ///< [names][updates]

  /// The column of that name, NaN where there is none. REQUIRES one of `names`.
  [[nodiscard]] const std::vector<double>& column(std::string_view name) const;
};

/// What a run folder tells about its run, finished or not.
struct RunRecord {
  struct End {
    std::int64_t update = 0;
    std::string reason;
  };
  struct Best {
    std::string metric;
    double value = 0;
    std::int64_t update = 0;
  };

  RunRecord();  ///< of a run that has recorded nothing

  std::string folder = ".";
  std::string config;        ///< config.json as it stands there; "" when missing
  std::string last_written;  ///< when a number came last, "2024-05-01 12:30 UTC"; "" when none did
  Curves train, validation, probe;
  std::string bleu_signature, chrf_signature;
  std::optional<End> end;  ///< none: still running, or ended from outside
  std::optional<Best> best;
  double elapsed = 0;  ///< seconds of the whole run, as far as is known
  std::vector<ProbePair> pairs;
  DamagedLines damaged_metrics, damaged_probe;
};

/// Reads RUN/config.json, metrics.jsonl and probe.jsonl, each of which may be missing, damaged or
/// just being written. Throws DataError when `folder` holds neither config.json nor metrics.jsonl,
/// or a file cannot be read.
[[nodiscard]] RunRecord read_run(const std::string& folder);

}  // namespace verso
