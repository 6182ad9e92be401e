#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/dataset.h"

namespace verso {

/// Where training stands in the data: everything needed to go on as if never stopped.
struct BatcherPosition {
  std::int64_t epoch = 0;        ///< finished epochs
  std::int64_t batch = 0;        ///< batches of this epoch already given
};

/// Cuts a dataset into batches of at most training.batch_tokens target positions (padding and end
/// symbols included; a longer pair is a batch of its own). Each epoch: every pair once (times its
/// corpus' weight), indices shuffled by (seed, epoch), sorted by target then source length within
/// windows of training.sort_window batches, the batches of the whole epoch shuffled. A batch's pairs
/// are in order of falling source length. Order depends on seed and epoch only, never on threads.
class Batcher {
 public:
  Batcher(std::shared_ptr<const Dataset> dataset, const Config& config, std::uint64_t seed);

  /// Pairs of the next batch; starts the next epoch when this one is used up.
  [[nodiscard]] const std::vector<std::int64_t>& next();
  /// Batches in the present epoch.
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  /// True when the batch given last was the last of its epoch.
  [[nodiscard]] bool epoch_finished() const;
  [[nodiscard]] BatcherPosition position() const;
  void set_position(const BatcherPosition& position);
  /// Share of the present epoch's positions (source and target) that are padding.
  [[nodiscard]] double padding() const;

 private:
  void start_epoch(std::int64_t epoch);
  std::shared_ptr<const Dataset> dataset_;
  std::vector<double> weights_;
  std::int64_t batch_tokens_, sort_window_;
  std::uint64_t seed_;
  BatcherPosition position_;
  std::vector<std::vector<std::int64_t>> batches_;
};

}  // namespace verso
