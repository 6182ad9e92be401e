#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "data/dataset.h"
#include "train/reporter.h"

/// What a run keeps between processes, and the checks before it goes on.
namespace verso {

/// Best value of each metric so far, and how long the deciding one has not gained.
class BestScores {
 public:
  explicit BestScores(Metric deciding) : deciding_(deciding) {}

  /// Takes a validation in; returns the metrics that are now better than ever. A value that is not
  /// finite never is.
  std::vector<Metric> add(const Validation& validation);

  [[nodiscard]] double value() const;    ///< of the deciding metric
  [[nodiscard]] int64_t update() const;  ///< when it was reached; -1 = no validation yet
  [[nodiscard]] int64_t without_gain() const { return without_gain_; }
  /// Scores and place of the latest validation.
  [[nodiscard]] CheckpointInfo info() const { return info_; }

  [[nodiscard]] std::map<std::string, std::string> state() const;
  void set_state(const std::map<std::string, std::string>& values);

 private:
  struct Best {
    double value = 0;
    int64_t update = -1;
  };
  Metric deciding_;
  std::map<Metric, Best> best_;
  int64_t without_gain_ = 0;
  CheckpointInfo info_;
};

/// The configuration to go on with: `asked`'s, once it is sure that it differs from the run's own
/// only in keys that may change between processes (limits, validation, saves, threads, device,
/// where files lie; with `reset` all of training too). The seed is the run's. Throws ConfigError
/// listing every other difference, CheckpointError when `last` holds no training state.
[[nodiscard]] Config resumed_config(Config asked, const Checkpoint& last, bool reset);

/// Throws DataError when the training data is not what the run began with.
void check_same_data(const Checkpoint& last, const Dataset& dataset);

/// A double as text that reads back as the same bits, and back. real_number() throws
/// CheckpointError.
[[nodiscard]] std::string exact(double value);
[[nodiscard]] double real_number(const std::map<std::string, std::string>& values,
                                 const std::string& key);

}  // namespace verso
