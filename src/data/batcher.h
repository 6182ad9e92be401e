#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "config/config.h"
#include "data/dataset.h"

namespace verso {

/// Where training stands in the data: everything needed to go on as if never stopped.
struct BatcherPosition {
  std::int64_t epoch = 0;  ///< index of the present epoch
  std::int64_t batch = 0;  ///< batches of this epoch already given
};

/// Cuts a dataset into batches of at most training.batch_tokens target positions (padding and end
/// symbols included; a longer pair is a batch of its own). Each epoch: every pair once (times its
/// corpus' weight), indices shuffled by (seed, epoch), sorted by target then source length within
/// windows of training.sort_window batches, the batches of the whole epoch shuffled. A batch's
/// pairs are in order of falling source length. Order depends on seed and epoch only, never on
/// threads. A corpus of weight w gives each pair floor(w) times, and to make up the rest pairs
/// drawn anew each epoch, none twice. Memory: 4 bytes a pair of the epoch.
class Batcher {
 public:
  /// REQUIRES a dataset made from config.data.train.
  Batcher(std::shared_ptr<const Dataset> dataset, const Config& config, std::uint64_t seed);

  /// Pairs of the next batch, valid until the next call; starts the next epoch when this one is
  /// used up.
  [[nodiscard]] const std::vector<std::int64_t>& next();
  /// Batches in the present epoch.
  [[nodiscard]] std::int64_t batches_per_epoch() const;
  /// True when the batch given last was the last of its epoch.
  [[nodiscard]] bool epoch_finished() const;
  [[nodiscard]] BatcherPosition position() const;
  /// Goes on behind the batch given last when position() was asked. Throws DataError when there is
  /// no such batch.
  void set_position(const BatcherPosition& position);
  /// Share of the present epoch's positions (source and target, each with its end symbol) that are
  /// padding.
  [[nodiscard]] double padding() const;

 private:
  void start_epoch(std::int64_t epoch);
  void draw_pairs(Random& random);
  void cut_window(std::size_t begin, std::size_t end);
  void close_batch(std::size_t begin, std::size_t end);

  std::shared_ptr<const Dataset> dataset_;
  std::vector<double> weights_;
  std::int64_t batch_tokens_, sort_window_;
  std::uint64_t seed_;
  BatcherPosition position_;
  std::vector<std::uint32_t> pairs_;        // of the epoch, batch after batch
  std::vector<std::size_t> batch_ends_;     // in pairs_
  std::vector<std::uint32_t> batch_order_;  // in which batches are given
  std::vector<std::int64_t> batch_;         // given last
  std::int64_t positions_ = 0, real_positions_ = 0;
};

}  // namespace verso
