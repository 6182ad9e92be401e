#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/files.h"
#include "train/probe.h"
#include "train/reporter.h"
#include "train/tensorboard.h"

namespace verso {

enum class RunMode { kFresh, kResume, kOverwrite };

/// The folder of a run: config.json, train.log, metrics.jsonl, probe.jsonl, tensorboard/ (events),
/// valid/ (validation translations), cache/, last, best and update-N checkpoints. Locked for one
/// process at a time.
class RunFolder {
 public:
  /// kFresh: throws DataError when `path` holds a run already, naming --resume and --overwrite.
  /// kResume: throws CheckpointError when there is no `last` checkpoint.
  /// kOverwrite: takes the folder of an earlier run, which stays whole until forget_previous().
  /// Throws DataError when the folder cannot be made or is in use by another process.
  RunFolder(std::string path, RunMode mode);
  /// Takes away what a run that never had a checkpoint left, so that the same command works once
  /// its data is mended; the folder too if it was made here and nothing else is in it.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  /// Removes checkpoints, metrics, events and translations of an earlier run, and nothing else.
  /// Called once the new run's data and model are known to be good, so that a mistake loses
  /// nothing.
  void forget_previous() const;

  /// Removes pair caches in this folder other than the one of this digest: no later process of the
  /// run can want them. A cache folder outside (data.cache) is shared and never cleared.
  void keep_cache(const std::string& digest) const;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// The folder of TensorBoard's event files.
  [[nodiscard]] std::string events() const;
  [[nodiscard]] std::string last() const;
  [[nodiscard]] std::string best() const;
  /// Best by another metric than the deciding one.
  [[nodiscard]] std::string best(Metric metric) const;
  /// Checkpoint of one validation, under checkpoint.keep.
  [[nodiscard]] std::string at_update(int64_t update) const;
  /// Removes all but the `keep` newest update-N checkpoints.
  void keep_newest(int64_t keep) const;

 private:
  void claim(RunMode mode);

  std::string path_;
  bool made_here_ = false;  ///< there was no folder before
  std::unique_ptr<FileLock> lock_;
};

/// metrics.jsonl: one JSON object a line for each progress line ("kind": "train"), validation
/// ("validation", "extra": true where none was due), look at the probe ("probe") and the end of a
/// run ("end"); all share the key "update".
class MetricsLog {
 public:
  /// Takes back what a run that goes on from `update` will write again or would never have written:
  /// lines after it, the end, an extra validation, and one at `update` that is still due.
  static void rewind(const std::string& path, int64_t update, bool validation_due);

  /// Appends to `path`, and mirrors it in the folder `events` for TensorBoard where one is given.
  explicit MetricsLog(const std::string& path, const std::optional<std::string>& events = {});
  void write(const Progress& progress);
  void write(const Validation& validation);
  void write(const ProbeScores& scores);
  void write_end(int64_t update, const std::string& reason);
  /// What was written survives a loss of power: before a checkpoint that counts on it.
  void sync();

 private:
  void append(const nlohmann::ordered_json& line);

  AppendFile file_;
  std::optional<TensorBoardLog> events_;
};

}  // namespace verso
