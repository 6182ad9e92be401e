#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "align/alignment.h"
#include "data/link_format.h"
#include "metrics/aer.h"

/// Hard alignments; how they are written: data/link_format.h.
namespace verso {

enum class LinkRule {
  kPerTarget,  ///< for each target word the source word with most weight
  kPerSource,  ///< for each source word the target word with most weight
  kThreshold,  ///< every pair of words with at least `threshold`
};

/// Links of real words: end symbols are dropped before the best is looked for. Of equal weights the
/// lowest index wins, zeros included: unless a side is empty, kPerTarget gives exactly one link for
/// each target word, kPerSource one for each source word. Sorted by source, then target.
[[nodiscard]] std::vector<Link> extract_links(const SoftAlignment& alignment,
                                              LinkRule rule = LinkRule::kPerTarget,
                                              float threshold = 0.5F);

/// Links with their words, for programs: links are separated by one TAB, and in a link its indices,
/// source word and target word by one space ("0-0 das the<TAB>1-1:0.9312 Haus house"). Words hold
/// no white space, so nothing needs escaping. REQUIRES indices of `alignment`'s words.
[[nodiscard]] std::string format_links_with_words(const std::vector<Link>& links,
                                                  const SoftAlignment& alignment,
                                                  bool with_weights = false);

/// Adds a sentence's links and its gold links, sure and possible, to `errors`.
void add_links(AlignmentErrors& errors, const std::vector<Link>& links,
               const std::vector<Link>& gold);

}  // namespace verso
