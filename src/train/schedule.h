#pragma once

#include <map>
#include <string>

#include "config/config.h"

namespace verso {

/// Learning rate over a run, update k from 1:
///   constant      rate
///   inverse_sqrt  rate * sqrt(warmup / k) for k > warmup
///   plateau       rate * factor^drops, a drop after `decay_patience` validations without gain
/// and in each the first `warmup` updates rise linearly from rate / warmup.
class LearningRate {
 public:
  explicit LearningRate(const TrainingConfig& config);

  [[nodiscard]] double at(int64_t update) const;
  /// Tells the result of a validation; returns true when the rate has just fallen.
  bool validated(bool gained);

  [[nodiscard]] std::map<std::string, std::string> state() const;
  /// Throws CheckpointError when an entry is missing or no number.
  void set_state(const std::map<std::string, std::string>& values);

 private:
  TrainingConfig config_;
  int64_t drops_ = 0, without_gain_ = 0;
};

/// values[key] as a whole number. Throws CheckpointError naming the key.
[[nodiscard]] int64_t whole_number(const std::map<std::string, std::string>& values,
                                   const std::string& key);

}  // namespace verso
