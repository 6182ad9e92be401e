#pragma once

#include <string>
#include <vector>

#include "align/links.h"
#include "data/corpus.h"
#include "search/forced.h"

/// Alignments of given pairs.
namespace verso {

/// Attention of a forced pair between the words of its lines, end symbols included. A pair with a
/// side without tokens has no end symbols and no weight.
[[nodiscard]] SoftAlignment word_alignment(const ForcedPair& pair, const std::string& source,
                                           const std::string& target);

/// How links are taken from attention.
struct LinkOptions {
  LinkRule rule = LinkRule::kPerTarget;
  float threshold = 0.5F;
};

/// Shifts that a reading can have (ForcedOptions::shift).
inline constexpr std::int64_t kMostShift = 2;

/// Errors against `gold`'s links for each shift 0 ... kMostShift. REQUIRES models in evaluation
/// mode and links for every pair of gold.
[[nodiscard]] std::vector<AlignmentErrors> errors_by_shift(
    const std::vector<const TranslationModel*>& models, const ParallelText& gold,
    const LinkOptions& options = {});

}  // namespace verso
