#pragma once

#include <span>

#include "cli/commands.h"

namespace verso {

/// One row a command.
struct Command {
  const char* name;
  const char* summary;
  void (*setup)(CLI::App& command, CommandRun& run);
};

/// All commands, in the order of --help.
[[nodiscard]] std::span<const Command> command_table();

/// Parses the command line, runs the command and gives its exit code. --help and --version print on
/// stdout and give 0. Throws UsageError, with the nearest known name, for an unknown command or
/// option; and whatever the command throws.
[[nodiscard]] int run_program(int argc, const char* const* argv);

}  // namespace verso
