#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder that lives as long as the test.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              cat("verso_files_", ::getpid(), "_",
                  testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator{}));
  }
  fs::path folder_;
};

template <class Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const DataError& problem) {
    return problem.what();
  }
  return "nothing thrown";
}

TEST_F(Files, ReadBackWhatWasWritten) {
  const std::string content("a\0\r\n\xFF", 5);
  write_file_atomically(path("f"), content);
  EXPECT_EQ(read_file(path("f")), content);
  const MappedFile mapped(path("f"));
  EXPECT_EQ(mapped.bytes().size(), 5U);
  EXPECT_EQ(std::to_integer<int>(mapped.bytes()[4]), 0xFF);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, EmptyFileMapsToEmptySpan) {
  write_file_atomically(path("f"), "");
  EXPECT_TRUE(MappedFile(path("f")).bytes().empty());
}

TEST_F(Files, ReadErrorsNamePathAndReason) {
  EXPECT_THAT(message_of([&] { (void)read_file(path("none")); }),
              HasSubstr("none: cannot be read"));
  EXPECT_THAT(message_of([&] { (void)read_file(path("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { (void)read_file(folder_); }), HasSubstr("folder"));
  EXPECT_THAT(message_of([&] { (void)read_file(""); }), HasSubstr("empty"));
  EXPECT_THAT(message_of([&] { MappedFile mapped(path("none")); }), HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { MappedFile mapped("/dev/null"); }), HasSubstr("regular"));
}

TEST_F(Files, ReadStopsAtTheLimit) {
  write_file_atomically(path("f"), "12345");
  EXPECT_EQ(read_file(path("f"), 5), "12345");
  EXPECT_THAT(message_of([&] { (void)read_file(path("f"), 4); }), HasSubstr("more than the 4"));
  EXPECT_THAT(message_of([&] { (void)read_file("/dev/zero", 100); }),
              HasSubstr("more than the 100"));
}

TEST_F(Files, WithoutCommitNothingChanges) {
  write_file_atomically(path("f"), "old");
  {
    AtomicFile file(path("f"));
    file.write("new");
    EXPECT_EQ(read_file(path("f")), "old");
    EXPECT_EQ(entries(), 2U);
  }
  EXPECT_EQ(read_file(path("f")), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, CommitReplacesAndKeepsMode) {
  write_file_atomically(path("f"), "old");
  ::chmod(path("f").c_str(), 0640);
  write_file_atomically(path("f"), "new");
  EXPECT_EQ(read_file(path("f")), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms(0640));
}

TEST_F(Files, LinksStayLinks) {
  write_file_atomically(path("real"), "old");
  fs::create_symlink("real", path("link"));
  write_file_atomically(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real")), "new");
}

TEST_F(Files, DevicesAreWrittenInPlace) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(Files, WriteErrorsNamePathAndReason) {
  EXPECT_THAT(message_of([&] { write_file_atomically(path("none/f"), "x"); }),
              HasSubstr("No such file"));
  EXPECT_THAT(message_of([&] { write_file_atomically(folder_, "x"); }), HasSubstr("folder"));
  EXPECT_THAT(message_of([&] { write_file_atomically("", "x"); }), HasSubstr("empty"));
  EXPECT_THAT(message_of([&] { write_file_atomically("/dev/full", "x"); }),
              HasSubstr("/dev/full: cannot be written: No space left"));
}

TEST_F(Files, LockIsExclusiveAndNamesItsHolder) {
  auto lock = std::make_unique<FileLock>(path("lock"));
  EXPECT_THAT(message_of([&] { FileLock second(path("lock")); }),
              HasSubstr(cat("process ", ::getpid())));
  lock.reset();
  EXPECT_NO_THROW(FileLock third(path("lock")));
}

TEST_F(Files, LockOfADeadProcessIsFree) {
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(new FileLock(path("lock")));  // never destroyed: the process just ends
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_NO_THROW(FileLock lock(path("lock")));
}

}  // namespace
}  // namespace verso
