#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"

namespace verso {

/// Where training stands; one progress line. Averages are since the line before.
struct Progress {
  int64_t update = 0;
  double epoch = 0;              ///< finished epochs with fraction
  double loss = 0;               ///< objective per target token, label smoothing included, nats
  double perplexity = 0;         ///< exp(cross-entropy per target token), teacher-forced
  std::optional<double> guided;  ///< cross-entropy of attention to given links, per guided token
  double tokens_per_second = 0;  ///< target tokens, end symbols included
  double learning_rate = 0;
  double gradient_norm = 0;                  ///< before clipping, mean
  double padding = 0;                        ///< share of this epoch's positions
  int64_t skipped = 0;                       ///< non-finite updates left out so far
  double elapsed = 0;                        ///< seconds of the whole run
  std::optional<double> left;                ///< seconds to the end, when a limit is set
  std::optional<double> left_to_validation;  ///< seconds
};

/// A translation shown in the log.
struct SampleTranslation {
  std::string source, reference, hypothesis;
};

/// Result of a validation. "Teacher-forced": the model reads the true previous words; "decoded":
/// its own, as in translation.
struct Validation {
  int64_t update = 0;
  double epoch = 0;
  double loss = 0;            ///< teacher-forced cross-entropy per target token, nats
  double perplexity = 0;      ///< exp(loss)
  double bleu = 0, chrf = 0;  ///< decoded, 0 to 100
  std::optional<double> aer;  ///< of forced links against data.valid.links, 0 to 1
  double entropy = 0;         ///< mean of the entropy of alpha per target token, nats
  double coverage = 0;        ///< mean over source tokens of min(1, sum_t alpha_tj)
  std::string bleu_signature, chrf_signature;
  Metric metric = Metric::kBleu;  ///< decides
  double best = 0;                ///< best value of that metric so far, this one included
  int64_t best_update = 0;
  bool gained = false;
  int64_t without_gain = 0, patience = 0;  ///< patience 0 = no early stopping
  bool extra = false;                      ///< the run's end, where none was due
  double learning_rate = 0;                ///< from now on
  double seconds = 0;
  double elapsed = 0;
  std::vector<SampleTranslation> samples;
};

/// Told by the trainer what happens; decides how people and programs see it.
class Reporter {
 public:
  virtual ~Reporter() = default;
  /// Every training.log_every updates.
  virtual void progress(const Progress& progress) = 0;
  /// After each update, for a live display; cheap.
  virtual void tick(const Progress& progress) = 0;
  virtual void validation(const Validation& validation) = 0;
};

}  // namespace verso
