#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "model/translation_model.h"
#include "train/reporter.h"

namespace verso {

/// Teacher-forced cross-entropy of given pairs.
struct ForcedLoss {
  double nll = 0;  ///< summed over real target tokens and end symbols, nats
  int64_t tokens = 0;
};

/// Sums -log p over `pairs` (ids without begin and end symbols) in batches of about `batch_tokens`
/// target positions, sorted by length inside; the sum is the same for every batch size (to
/// rounding) and order. Returns nothing when `stop` became non-zero meanwhile.
[[nodiscard]] std::optional<ForcedLoss> forced_loss(Seq2Seq& network,
                                                    const std::vector<EncodedLine>& sources,
                                                    const std::vector<EncodedLine>& targets,
                                                    int64_t batch_tokens,
                                                    const std::atomic<int>& stop);

/// Scores a model on data.valid during training.
class Validator {
 public:
  /// Reads and encodes data.valid. Throws DataError (also when no pair is left that has both
  /// sides).
  Validator(const Config& config, const VocabularyPair& vocabularies);

  /// Fills loss, perplexity, bleu, chrf, aer (with data.valid.links), entropy, coverage,
  /// signatures, samples and seconds; writes the translations into `translations_file`. Decoded
  /// scores are those of `verso translate` with the same checkpoint and validation.beam and
  /// length_penalty, on all lines. Nothing when `stop` became non-zero.
  [[nodiscard]] std::optional<Validation> run(TranslationModel& model,
                                              const std::string& translations_file,
                                              const std::atomic<int>& stop) const;

 private:
  ParallelText text_;
  std::vector<EncodedLine> sources_, targets_;  ///< pairs with both sides only
};

}  // namespace verso
