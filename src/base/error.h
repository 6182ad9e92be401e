#pragma once

#include <stdexcept>
#include <string>

namespace verso {

/// Exit codes of the program; one table for `--help`, main and the tests.
/// A run ended by a signal exits with 128 + the signal's number.
enum class ExitCode : int {
  kSuccess = 0,
  kUsage = 2,
  kConfig = 3,
  kData = 4,
  kCheckpoint = 5,
  kNumeric = 6,
  kInternal = 70,
};

/// Base of everything the library throws on purpose. The message is complete:
/// where (file:line), what was found, what was expected, what to do.
/// Only main catches; the library never prints, exits or aborts.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// Wrong command line: unknown option, value out of range, options that exclude each other.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(ExitCode::kUsage, message) {}
};

/// Wrong configuration: unknown key, wrong type, value out of range, keys that contradict.
struct ConfigError : Error {
  explicit ConfigError(const std::string& message) : Error(ExitCode::kConfig, message) {}
};

/// Wrong or missing input data, or output that cannot be written.
struct DataError : Error {
  explicit DataError(const std::string& message) : Error(ExitCode::kData, message) {}
};

/// Damaged, missing or unsuitable checkpoint, or one that cannot be written.
struct CheckpointError : Error {
  explicit CheckpointError(const std::string& message) : Error(ExitCode::kCheckpoint, message) {}
};

/// Training that no longer gives finite numbers.
struct NumericError : Error {
  explicit NumericError(const std::string& message) : Error(ExitCode::kNumeric, message) {}
};

/// A tensor of the wrong shape: a mistake of ours or of a caller of the library.
struct ShapeError : Error {
  explicit ShapeError(const std::string& message) : Error(ExitCode::kInternal, message) {}
};

}  // namespace verso
