#pragma once

#include <map>
#include <string>

#include "model/translation_model.h"

namespace verso {

/// Where in a run a checkpoint was made.
struct CheckpointInfo {
  int64_t update = 0;
  double epoch = 0;
  std::map<std::string, double> scores;  ///< validation scores by metric name
};

/// What a run needs beside the model to go on as if never stopped. Only `last` holds it.
struct TrainingState {
  std::map<std::string, std::string> values;  ///< counters, schedule, patience, position, …
  std::map<std::string, Tensor> tensors;      ///< optimiser moments, LibTorch's generator
};

/// One checkpoint file, read.
struct Checkpoint {
  TranslationModel model;
  CheckpointInfo info;
  TrainingState state;
  bool resumable = false;   ///< holds a TrainingState
  std::int64_t format = 0;  ///< version of the file's format
  std::string path;         ///< the file itself, also when a run folder was named
};

/// Writes model, info and (when given) state as one safetensors file, atomically (base/files.h):
/// the previous file stays until the new one is on disk. Tensors are written as CPU tensors; the
/// effective config, format version, info and a checksum over the whole file are in the metadata,
/// the vocabularies inside as bytes. Throws CheckpointError with path and the system's reason.
void save_checkpoint(const std::string& path, const TranslationModel& model,
                     const CheckpointInfo& info, const TrainingState* state);

/// Reads a checkpoint file, or of a run folder its best (when there is none its last) checkpoint.
/// The file is mapped; every length is checked before use. The network is in evaluation mode on
/// `device`. Throws CheckpointError naming the file, what is wrong, and what to do.
[[nodiscard]] Checkpoint load_checkpoint(const std::string& path, const torch::Device& device);

/// Names inside a run folder.
inline constexpr const char* kBestFile = "best.safetensors";
inline constexpr const char* kLastFile = "last.safetensors";

}  // namespace verso
