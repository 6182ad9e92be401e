#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/tokenize.h"

namespace verso {

/// What becomes of an n-gram precision with no match (Chen and Cherry 2014, W14-3346).
enum class BleuSmoothing {
  kExp,    ///< the k-th zero precision is 1 / (2^k total): mteval's, sacreBLEU's default
  kFloor,  ///< the count is smoothing_value
  kAddK,   ///< smoothing_value added to count and total of all orders above 1
  kNone,   ///< it stays 0, and so does the score
};

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::k13a;
  BleuSmoothing smoothing = BleuSmoothing::kExp;
  std::optional<double> smoothing_value = std::nullopt;  ///< else 0.1 (kFloor), 1 (kAddK)
  bool lowercase = false;
  bool effective_order = false;  ///< leave out orders above the length; meant for single sentences
  std::int64_t max_order = 4;
};

/// BLEU of Papineni et al. 2002 (P02-1040), from 0 to 100 (to rounding):
///   bp exp(1/N sum_n log p_n), bp = min(1, exp(1 - ref_len / sys_len))
/// Everything is finite always; with no match at all, or no sentence, the score is 0.
struct BleuScore {
  double score = 0;
  std::vector<double> precisions;    ///< [max_order], percent, smoothed
  std::vector<std::int64_t> counts;  ///< [max_order], n-grams matched, clipped; before smoothing
  std::vector<std::int64_t> totals;  ///< [max_order], n-grams of the hypotheses; before smoothing
  double brevity_penalty = 1;
  std::int64_t sys_len = 0;
  std::int64_t ref_len = 0;  ///< of each sentence's references the length nearest, shorter if tied
  /// Hypotheses that end in " ." and so look tokenised already. sacreBLEU warns from 100 on: scores
  /// of text tokenised twice are not comparable.
  std::int64_t tokenized_hypotheses = 0;
};

/// Equal to sacreBLEU 2's corpus BLEU. `references` is [reference set][sentence], one set or more.
/// Throws DataError when a set has not as many lines as there are hypotheses or when there is no
/// set, UsageError for max_order outside 1 to 16 or a smoothing value that is negative or not
/// finite.
[[nodiscard]] BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                                    const std::vector<std::vector<std::string>>& references,
                                    const BleuOptions& options = {});

/// BLEU of one sentence against its references; effective_order is advisable.
[[nodiscard]] BleuScore sentence_bleu(const std::string& hypothesis,
                                      const std::vector<std::string>& references,
                                      const BleuOptions& options = {.effective_order = true});

/// What a score was made with, in sacreBLEU's form:
/// "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:verso-0.1.0".
[[nodiscard]] std::string bleu_signature(std::int64_t reference_sets,
                                         const BleuOptions& options = {});

/// The parts of a score as sacreBLEU prints them behind it:
/// "57.1/42.9/… (BP = 1.000 ratio = 1.024 hyp_len = 43 ref_len = 42)".
[[nodiscard]] std::string bleu_details(const BleuScore& score);

}  // namespace verso
