#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "base/files.h"

namespace verso {

/// What the name of an event file starts with; a number follows. TensorBoard takes any file with
/// ".tfevents." in its name.
inline constexpr const char* kEventFile = "events.out.tfevents.verso.";

/// The curves of metrics.jsonl for TensorBoard: a file of events that mirrors it line by line.
///
/// The file is a row of records (tensorflow.org/tutorials/load_data/tfrecord, "TFRecords format
/// details"), all numbers little-endian:
///   size of data   uint64
///   check of size  uint32, the CRC-32C of its bytes, rotated right by 15 bits, plus 0xa282ead8
///   data
///   check of data  uint32, the same
/// data is a protocol buffer Event (tensorboard/compat/proto/event.proto and summary.proto):
///   wall_time    1 double   when it was written, in seconds since 1970
///   step         2 int64    the update
///   file_version 3 string   "brain.Event:2", in the first record and only there
///   summary      5 { value 1 { tag 1 string, simple_value 2 float } … }
/// There is one event for each line of kind "train", "validation" and "probe"; in it a value for
/// each number of the line, such as "train/loss", but for updates, seconds and limits. What is
/// null, or infinite as a float, has none.
class TensorBoardLog {
 public:
  /// Makes the events in `folder` those of the lines of the file `metrics`, which may be missing:
  /// keeps the newest file's records up to the first that is damaged or of another line, and adds
  /// what is missing. A file that would have to be cut makes way for one with the next number: an
  /// open TensorBoard notices new files, but not that one has become shorter. Throws DataError when
  /// it cannot write.
  TensorBoardLog(const std::string& folder, const std::string& metrics);

  /// Appends the event of a line of metrics.jsonl, if there is one for its kind.
  void write(const nlohmann::ordered_json& line);
  void sync() { file_->sync(); }

 private:
  std::optional<AppendFile> file_;
};

}  // namespace verso
