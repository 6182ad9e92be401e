#pragma once

#include <array>
#include <string>

#include "base/error.h"

namespace verso {

struct ExitCodeRow {
  ExitCode code;
  const char* meaning;
};

/// The exit codes, for --help and the manual.
inline constexpr std::array kExitCodes{
    ExitCodeRow{ExitCode::kSuccess, "success"},
    ExitCodeRow{ExitCode::kUsage, "wrong command line"},
    ExitCodeRow{ExitCode::kConfig, "wrong configuration"},
    ExitCodeRow{ExitCode::kData, "wrong or missing data, or output that cannot be written"},
    ExitCodeRow{ExitCode::kCheckpoint, "damaged, missing or unsuitable checkpoint"},
    ExitCodeRow{ExitCode::kNumeric, "training gave no finite numbers any more"},
    ExitCodeRow{ExitCode::kInternal, "internal error, or out of memory"},
};

/// The table as text, one code a line.
[[nodiscard]] std::string exit_code_help();

}  // namespace verso
