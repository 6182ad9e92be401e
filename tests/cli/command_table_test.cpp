#include "cli/command_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/version.h"
#include "cli/exit_codes.h"

namespace verso {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Outcome {
  int code = -1;
  std::string out, error;
};

/// Runs the program in this process.
Outcome run(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "verso");
  Outcome outcome;
  testing::internal::CaptureStdout();
  try {
    outcome.code = run_program(static_cast<int>(arguments.size()), arguments.data());
  } catch (const Error& problem) {
    outcome.code = static_cast<int>(problem.exit_code());
    outcome.error = problem.what();
  }
  outcome.out = testing::internal::GetCapturedStdout();
  return outcome;
}

TEST(CommandTable, RowsHaveNameSummaryAndSetup) {
  std::set<std::string> names;
  for (const Command& command : command_table()) {
    EXPECT_TRUE(names.insert(command.name).second) << command.name;
    EXPECT_STRNE(command.summary, "");
    ASSERT_NE(command.setup, nullptr);
    CLI::App app;
    CommandRun function;
    command.setup(app, function);
    EXPECT_TRUE(function) << command.name;
  }
}

TEST(RunProgram, HelpListsCommandsAndExitCodesOnStdout) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.code, 0);
  for (const Command& command : command_table()) {
    EXPECT_THAT(outcome.out, HasSubstr(command.name));
    EXPECT_THAT(outcome.out, HasSubstr(command.summary));
  }
  for (const ExitCodeRow& row : kExitCodes) EXPECT_THAT(outcome.out, HasSubstr(row.meaning));
  EXPECT_THAT(outcome.out, HasSubstr("  70     internal error"));
  EXPECT_THAT(outcome.out, HasSubstr("  3      wrong configuration"));
}

TEST(RunProgram, EveryCommandHasHelp) {
  for (const Command& command : command_table()) {
    const Outcome outcome = run({command.name, "--help"});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, HasSubstr(command.summary));
  }
}

TEST(RunProgram, PrintsItsVersion) {
  const Outcome outcome = run({"--version"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, std::string("verso ") + kVersion + "\n");
}

TEST(RunProgram, UnknownNamesAreUsageErrorsWithTheNearestName) {
  EXPECT_THAT(run({"confg"}).error, StartsWith("unknown command \"confg\"; did you mean config?"));
  EXPECT_THAT(run({"config", "chek"}).error, HasSubstr("did you mean check?"));
  EXPECT_THAT(run({"config", "check", "--sett", "a=1", "x"}).error,
              HasSubstr("unknown option \"--sett\"; did you mean --set?"));
  EXPECT_THAT(run({"config", "schema", "--quite"}).error, HasSubstr("did you mean --quiet?"));
  EXPECT_THAT(run({"config", "check", "a", "b"}).error, HasSubstr("unexpected argument \"b\""));
  for (const char* odd : {"confg", "-x", "--", "", "\xFF"}) EXPECT_EQ(run({odd}).code, 2) << odd;
}

TEST(RunProgram, MissingPartsAreUsageErrors) {
  EXPECT_EQ(run({}).code, 2);
  EXPECT_EQ(run({"config"}).code, 2);
  EXPECT_EQ(run({"config", "check"}).code, 2);
  EXPECT_EQ(run({"config", "check", "x", "--set"}).code, 2);
  EXPECT_EQ(run({"config", "schema", "--quiet", "--verbose"}).code, 2);
}

// A file that is called as a command is must not be taken for one.
TEST(RunProgram, FilesMayHaveNamesOfCommands) {
  const Outcome outcome = run({"config", "check", "config"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.error, HasSubstr("config: cannot be read"));
  EXPECT_THAT(run({"config", "check", "schema"}).error, HasSubstr("schema: cannot be read"));
}

}  // namespace
}  // namespace verso
