#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace verso {
namespace {

using testing::HasSubstr;
using testing::Not;

int redraws = 0;

// The log is one for the process and its sinks stay: these steps build on each other.
TEST(Log, WritesWhereItIsToldTo) {
  testing::internal::CaptureStderr();
  log::warning("lost");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "no sink is set yet";

  testing::internal::CaptureStderr();
  log::to_stderr(log::Level::kInfo);
  log::debug("hidden");
  log::info("{} 100%");
  log::warning("careful");
  log::warning_once("key", "only once");
  log::warning_once("key", "only once");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "{} 100%\nverso: warning: careful\nverso: warning: only once\n");

  const auto path = std::filesystem::temp_directory_path() / cat("verso_log_", ::getpid());
  testing::internal::CaptureStderr();
  log::set_before_message([] { ++redraws; });
  log::to_stderr(log::Level::kWarning);
  log::to_file(path);
  log::info("in the file only");
  log::error("in both");
  log::set_before_message(nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "verso: error: in both\n");
  EXPECT_EQ(redraws, 1);
  const std::string content = read_file(path);
  EXPECT_THAT(content, HasSubstr(" in the file only\n"));
  EXPECT_THAT(content, HasSubstr(" error: in both\n"));
  EXPECT_THAT(content, Not(HasSubstr("careful")));

  log::to_file(path);
  log::info("appended");
  EXPECT_THAT(read_file(path), HasSubstr("in both"));
  EXPECT_THAT(read_file(path), HasSubstr("appended"));
  std::filesystem::remove(path);
  EXPECT_THROW(log::to_file("/dev/null/log"), DataError);
}

}  // namespace
}  // namespace verso
