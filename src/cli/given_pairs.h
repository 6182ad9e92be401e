#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace CLI {
class App;
}

namespace verso {

/// Where a command gets given pairs from.
struct GivenPairsOptions {
  std::string source, target, tsv = "-";
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kError;
};

/// Adds --source and --target (two files), --tsv (one; "-", the default, is standard input) and
/// --invalid-utf8.
void add_pairs_options(CLI::App& command, GivenPairsOptions& options);

/// Pairs as they come, in windows, so that memory does not grow with the input and a program on a
/// pipe gets its answer before it writes the next pair.
class GivenPairs {
 public:
  /// Throws UsageError when only one of source and target is named, DataError.
  explicit GivenPairs(const GivenPairsOptions& options);
  ~GivenPairs();
  GivenPairs(const GivenPairs&) = delete;
  GivenPairs& operator=(const GivenPairs&) = delete;

  /// The next pairs, empty at the end. Throws DataError (file:line) after a window that holds the
  /// pairs before the bad one.
  [[nodiscard]] ParallelText next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verso
