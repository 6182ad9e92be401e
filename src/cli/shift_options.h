#pragma once

#include <cstdint>
#include <string>

#include "align/forced_links.h"
#include "data/corpus.h"

namespace CLI {
class App;
}

namespace verso {

/// From which step a command reads a target word's alignment.
struct ShiftOptions {
  std::string shift;  ///< "0" … "2", "auto"; empty: the model's
  CorpusConfig dev;   ///< pairs with gold links to choose by
};

/// Adds --shift 0|1|2|auto, --dev-source, --dev-target, --dev-gold and --dev-gold-index.
void add_shift_options(CLI::App& command, ShiftOptions& options);

/// The shift to read with; for "auto" the one with the fewest errors on the dev pairs, the lowest
/// of equals, with the errors of each written to the log. Throws UsageError, DataError.
[[nodiscard]] std::int64_t choose_shift(const ShiftOptions& options,
                                        const std::vector<const TranslationModel*>& models,
                                        const LinkOptions& links);

}  // namespace verso
