#include "cli/exit_codes.h"

#include "base/text.h"

namespace verso {

std::string exit_code_help() {
  std::string text = "Exit codes:\n";
  for (const ExitCodeRow& row : kExitCodes) {
    const std::string code = std::to_string(static_cast<int>(row.code));
    text += cat("  ", code, std::string(7 - code.size(), ' '), row.meaning, "\n");
  }
  return text += "  128+n  ended by signal n (130: interrupted)";
}

}  // namespace verso
