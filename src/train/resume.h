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
///
/// An extra validation (at the end of a run, where none was due) is told apart: a run that had been
/// longer from the start would not have had it. It can make a best file, which stays until a better
/// one comes, but changes nothing that decides how a resumed run goes on.
class BestScores {
 public:
  explicit BestScores(Metric deciding) : deciding_(deciding) {}

  /// Takes a validation in; returns the metrics that are now better than in any best file. A value
  /// that is not finite never is.
  std::vector<Metric> add(const Validation& validation);

  [[nodiscard]] double value() const;    ///< of the deciding metric, extra validations left aside
  [[nodiscard]] int64_t update() const;  ///< when it was reached; -1 = no validation yet
  [[nodiscard]] int64_t without_gain() const { return without_gain_; }
  /// Update of the deciding metric's best file, and its value; -1 = there is none.
  [[nodiscard]] int64_t file_update() const;
  [[nodiscard]] double file_value() const;
  /// Scores and place of the latest validation that was due.
  [[nodiscard]] CheckpointInfo info() const { return info_; }

  [[nodiscard]] std::map<std::string, std::string> state() const;
  void set_state(const std::map<std::string, std::string>& values);

 private:
  struct Best {
    double value = 0;
    int64_t update = -1;
  };
  using Bests = std::map<Metric, Best>;
  [[nodiscard]] Best deciding(const Bests& bests) const;

  Metric deciding_;
  Bests best_, files_;
  int64_t without_gain_ = 0;
  CheckpointInfo info_;
};

/// The configuration to go on with: `asked`'s, once it is sure that it differs from the run's own
/// only in keys that may change between processes (limits, validation, saves, logs, threads,
/// device, where files lie, and what `allowed` adds). The seed is the run's. Throws ConfigError
/// listing every other difference, CheckpointError when `last` holds no training state.
struct Allowed {
  bool reset = false;     ///< all of training: its state starts anew
  bool new_data = false;  ///< the training data and which pairs of it are used
};
[[nodiscard]] Config resumed_config(Config asked, const Checkpoint& last, const Allowed& allowed);

/// True when the training data is what the run began with. When it is not: false where that is
/// allowed, else throws DataError.
[[nodiscard]] bool check_same_data(const Checkpoint& last, const Dataset& dataset, bool allowed);

/// Scores and place of a validation, for the checkpoints made of it.
[[nodiscard]] CheckpointInfo info_of(const Validation& validation);

/// A double as text that reads back as the same bits, and back. real_number() throws
/// CheckpointError.
[[nodiscard]] std::string exact(double value);
[[nodiscard]] double real_number(const std::map<std::string, std::string>& values,
                                 const std::string& key);

}  // namespace verso
