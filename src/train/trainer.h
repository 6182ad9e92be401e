#pragma once

#include <atomic>
#include <string>

#include "config/config.h"
#include "train/reporter.h"
#include "train/run_folder.h"

namespace verso {

struct TrainOptions {
  RunMode mode = RunMode::kFresh;
  /// With kResume: parameters only; optimiser, schedule, patience and best start anew.
  bool reset_optimizer = false;
  /// With kResume: the training data may be another; the present epoch begins anew with it.
  bool new_data = false;
};

/// How a run ended.
struct TrainResult {
  std::string reason;  ///< for people: limit reached, early stopping, signal
  int64_t update = 0;
  std::string best_file;  ///< "" when nothing was validated
  int64_t best_update = 0;
  int signal = 0;  ///< the one that ended the run, or 0
};

/// The whole training run of `config` into config.output: vocabularies, dataset, model, updates,
/// validations, checkpoints. `stop` is set to a signal's number from outside to end after the
/// present update with `last` saved. The same seed, threads and machine give the same bits, with or
/// without stops between. Throws ConfigError, DataError, CheckpointError, NumericError.
[[nodiscard]] TrainResult train(Config config, const TrainOptions& options, Reporter& reporter,
                                const std::atomic<int>& stop);

}  // namespace verso
