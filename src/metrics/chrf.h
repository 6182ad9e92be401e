#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verso {

/// chrF (Popović 2015, W15-3049) and, with word_order 2, chrF++ (Popović 2017, W17-4770).
struct ChrfOptions {
  std::int64_t char_order = 6;
  std::int64_t word_order = 0;
  std::int64_t beta = 2;  ///< recall counts beta times as much as precision
  bool lowercase = false;
  bool whitespace = false;     ///< count white space as characters
  bool eps_smoothing = false;  ///< average F over all orders (chrF++.py, NLTK, Moses), the missing
                               ///< ones included, instead of F of the average over those present
};

/// For each order, characters first and words after:
///   P_n = match_n / hyp_n,  R_n = match_n / ref_n,  F = (1 + beta^2) P R / (beta^2 P + R)
struct ChrfScore {
  double score = 0;                 ///< 0 to 100, always finite
  std::vector<std::int64_t> hyp;    ///< [char_order + word_order], n-grams of the hypotheses
  std::vector<std::int64_t> ref;    ///< of the references chosen
  std::vector<std::int64_t> match;  ///< in both, clipped
};

/// Equal to sacreBLEU 2's corpus chrF: counts are summed over sentences; of several references the
/// one with the best F of its own is taken for each sentence. `references` is
/// [reference set][sentence]. Throws DataError as corpus_bleu, UsageError for orders that are
/// negative, above 32 or both 0, and for beta outside 1 to 1000.
[[nodiscard]] ChrfScore corpus_chrf(const std::vector<std::string>& hypotheses,
                                    const std::vector<std::vector<std::string>>& references,
                                    const ChrfOptions& options = {});

[[nodiscard]] ChrfScore sentence_chrf(const std::string& hypothesis,
                                      const std::vector<std::string>& references,
                                      const ChrfOptions& options = {});

/// "chrF2" or "chrF2++": beta, and one + for each word order.
[[nodiscard]] std::string chrf_name(const ChrfOptions& options = {});

/// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:verso-0.1.0".
[[nodiscard]] std::string chrf_signature(std::int64_t reference_sets,
                                         const ChrfOptions& options = {});

}  // namespace verso
