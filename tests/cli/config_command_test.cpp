#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/command_table.h"
#include "config/load.h"
#include "config/reference.h"
#include "config/schema.h"
#include "config/write.h"

namespace verso {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ConfigCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / cat("verso_config_", ::getpid());
    std::filesystem::create_directories(folder_);
    write_file_atomically(path("a"), "one\ntwo\n\n");
    write_file_atomically(path("b"), "eins\nzwei\ndrei\n");
    write_file_atomically(path("short"), "eins\n");
    write_file_atomically(path("latin1"), "eins\ncaf\xE9\ndrei\n");
    write_file_atomically(path("good.json"),
                          cat(R"({"output": "run", "data": {"train": [{"source": ")", path("a"),
                              R"(", "target": ")", path("b"), "\"}]}}"));
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  /// verso config ...; stdout, and the error with its exit code.
  std::string run(std::vector<std::string> arguments) {
    std::vector<const char*> argv{"verso", "--quiet", "config"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    code_ = 0;
    error_.clear();
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    try {
      code_ = run_program(static_cast<int>(argv.size()), argv.data());
    } catch (const Error& problem) {
      code_ = static_cast<int>(problem.exit_code());
      error_ = problem.what();
    }
    log_ = testing::internal::GetCapturedStderr();
    return testing::internal::GetCapturedStdout();
  }

  std::filesystem::path folder_;
  int code_ = 0;
  std::string error_, log_;
};

TEST_F(ConfigCommand, PrintsSchemaReferenceAndDefaults) {
  EXPECT_EQ(run({"schema"}), config_schema());
  EXPECT_EQ(run({"reference"}), config_reference());
  const std::string defaults = run({"defaults"});
  EXPECT_THAT(defaults, HasSubstr("// run folder"));
  EXPECT_TRUE(differences(parse_config(defaults, "defaults"), Config{}).empty());
}

TEST_F(ConfigCommand, CheckCountsPairsAndNotesWhatDoesNothing) {
  const std::string out = run({"check", path("good.json")});
  EXPECT_EQ(code_, 0) << error_;
  EXPECT_THAT(out, HasSubstr("data.train[0]: 3 pairs, 1 with a blank side"));
  EXPECT_THAT(out, HasSubstr("good.json: good"));
  EXPECT_THAT(log_, HasSubstr("no data.valid"));
}

TEST_F(ConfigCommand, CheckTakesOverrides) {
  run({"check", path("good.json"), "--set", "threads=five", "--set", "hiden=1"});
  EXPECT_EQ(code_, 3);
  EXPECT_THAT(error_, AllOf(HasSubstr("threads=five"), HasSubstr("did you mean model.hidden?")));
}

TEST_F(ConfigCommand, CheckReportsContradictionsTogether) {
  run({"check", path("good.json"), "--set", "output=", "--set", "model.tie=all"});
  EXPECT_EQ(code_, 3);
  EXPECT_THAT(error_, AllOf(HasSubstr("good.json: output is empty"),
                            HasSubstr("good.json: model.tie is \"all\"")));
}

TEST_F(ConfigCommand, CheckReportsProblemsOfAllCorporaTogether) {
  run({"check", path("good.json"), "--set", "data.train[0].target=" + path("short"), "--set",
       "data.valid.tsv=" + path("none")});
  EXPECT_EQ(code_, 4);
  EXPECT_THAT(error_, AllOf(HasSubstr("short"), HasSubstr("none")));
}

TEST_F(ConfigCommand, CheckFollowsTheRuleForInvalidUtf8) {
  const std::string latin1 = "data.train[0].target=" + path("latin1");
  run({"check", path("good.json"), "--set", latin1});
  EXPECT_EQ(code_, 4);
  EXPECT_THAT(error_, HasSubstr("latin1:2"));
  const std::string out =
      run({"check", path("good.json"), "--set", latin1, "--set", "data.invalid_utf8=skip"});
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(out, HasSubstr("3 pairs, 1 with a blank side, 1 left out"));
}

TEST_F(ConfigCommand, CheckNeedsAPairThatCanBeUsed) {
  write_file_atomically(path("blank"), "\n \n\n");
  run({"check", path("good.json"), "--set", "data.train[0].target=" + path("blank")});
  EXPECT_EQ(code_, 4);
  EXPECT_THAT(error_, HasSubstr("no pair can be used: 3 pairs, 3 with a blank side"));
}

}  // namespace
}  // namespace verso
