// What a run does when the system fails under it: write, fsync and rename that fail, a full disk, a
// read-only folder.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "tests/train/toy_run.h"

namespace {

enum class Call { kNone, kWrite, kFsync, kRename };

/// The system call that fails: the `left`-th of its kind from now, once.
struct Fault {
  Call call = Call::kNone;
  int left = 0;
  int error = 0;
  bool happened = false;
  bool full = false;  ///< half of a write was made, the next is refused

  bool now(Call made) {
    if (made != call || left-- > 0) return false;
    call = Call::kNone;
    happened = true;
    errno = error;
    return true;
  }
} fault;

}  // namespace

// The executable's own definitions come before the C library's.
extern "C" {

ssize_t write(int file, const void* data, size_t size) {
  if (fault.now(Call::kWrite)) {
    if (fault.full || size < 2) return -1;
    // As a disk does that fills: what fits is written, the rest is refused.
    fault = {Call::kWrite, 0, fault.error, true, true};
    size /= 2;
  }
  return syscall(SYS_write, file, data, size);
}

int fsync(int file) {
  return fault.now(Call::kFsync) ? -1 : static_cast<int>(syscall(SYS_fsync, file));
}

int rename(const char* from, const char* to) noexcept {
  if (fault.now(Call::kRename)) return -1;
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

}  // extern "C"

namespace verso {
namespace {

namespace fs = std::filesystem;
using test::Recorder;
using test::ToyRun;
using testing::AllOf;
using testing::HasSubstr;

Checkpoint last_of(const Config& config) {
  return load_checkpoint(config.output + "/last.safetensors", torch::kCPU);
}

/// A few updates, each saved, with a validation among them.
Config short_run(const ToyRun& toy, const std::string& name) {
  Config config = toy.config(name);
  config.training.max_updates = 4;
  config.validation.every_updates = 2;
  config.checkpoint.every_updates = 1;
  config.checkpoint.keep = 1;
  return config;
}

/// Message of the error of Verso's that `action` throws; "" when it throws none.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& problem) {
    EXPECT_TRUE(problem.exit_code() == ExitCode::kCheckpoint ||
                problem.exit_code() == ExitCode::kData);
    return problem.what();
  }
  return "";
}

void expect_no_temporary_files(const std::string& folder) {
  if (!fs::exists(folder)) return;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  }
}

/// Goes on with a run that failed, or starts it again where it had not saved anything.
void go_on(const Config& config) {
  Recorder recorder;
  const bool saved = fs::exists(config.output + "/last.safetensors");
  (void)ToyRun::run(config, recorder, saved ? RunMode::kResume : RunMode::kFresh);
}

/// Lets the n-th call fail, for each n that a run comes to (in steps), and goes on after each.
void sweep(Call call, int error, int step) {
  const ToyRun toy("faults", 20);
  const Config whole = short_run(toy, "whole");
  Recorder recorder;
  (void)ToyRun::run(whole, recorder);
  const Checkpoint expected = last_of(whole);
  int failed = 0;
  for (int n = 0;; n += step) {
    SCOPED_TRACE(n);
    const Config config = short_run(toy, "run");
    fs::remove_all(config.output);
    fault = {call, n, error};
    const std::string message = error_of([&] { (void)ToyRun::run(config, recorder); });
    const bool happened = fault.happened;
    fault = {};
    if (!happened) break;
    ASSERT_THAT(message, AllOf(HasSubstr(config.output), HasSubstr(std::strerror(error))));
    ++failed;
    expect_no_temporary_files(config.output);
    if (fs::exists(config.output + "/last.safetensors")) {
      ASSERT_NO_THROW((void)last_of(config));
    }
    go_on(config);
    ASSERT_TRUE(test::same_bits(last_of(config), expected));
  }
  EXPECT_GT(failed, 10);
}

TEST(Faults, R074_AWriteThatFailsLosesNothing) { sweep(Call::kWrite, ENOSPC, 41); }
TEST(Faults, R074_AnFsyncThatFailsLosesNothing) { sweep(Call::kFsync, EIO, 2); }
TEST(Faults, R074_ARenameThatFailsLosesNothing) { sweep(Call::kRename, EACCES, 1); }

/// A file system of its own at a folder, seen by this thread only; needs root.
class SmallDisk {
 public:
  SmallDisk(std::string path, const std::string& size) : path_(std::move(path)) {
    fs::create_directories(path_);
    good_ = ::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount("tmpfs", path_.c_str(), "tmpfs", 0, ("size=" + size).c_str()) == 0;
  }
  ~SmallDisk() {
    if (good_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  [[nodiscard]] bool good() const { return good_; }
  /// Fills it up to the last `left` bytes.
  void fill(std::uintmax_t left) const {
    const std::string filler = path_ + "/filler";
    fs::remove(filler);
    const std::uintmax_t free = fs::space(path_).available;
    std::ofstream out(filler, std::ios::binary);
    const std::string block(4096, 'x');
    for (std::uintmax_t size = left; size + block.size() <= free; size += block.size()) {
      out << block;
    }
  }
  void empty() const { fs::remove(path_ + "/filler"); }
  [[nodiscard]] bool make_read_only(bool read_only) const {
    return ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | (read_only ? MS_RDONLY : 0),
                   nullptr) == 0;
  }

 private:
  std::string path_;
  bool good_ = false;
};

TEST(Faults, R074_ADiskThatFillsBeforeOrDuringASaveLosesNothing) {
  const ToyRun toy("disk", 20);
  const SmallDisk disk(toy.path("disk"), "8m");
  if (!disk.good()) GTEST_SKIP() << "mounting a small file system needs root";
  Config whole = short_run(toy, "whole");
  whole.training.max_updates = 12;
  Config config = whole;
  config.output = toy.path("disk/run");
  Recorder recorder;
  (void)ToyRun::run(whole, recorder);
  config.training.max_updates = 3;
  (void)ToyRun::run(config, recorder);
  config.training.max_updates = 12;
  const std::string last = config.output + "/last.safetensors";
  const std::uintmax_t size = fs::file_size(last);
  ASSERT_GT(size, 10000U);
  for (const std::uintmax_t left :
       {std::uintmax_t{0}, std::uintmax_t{4096}, size / 2, size - 4096}) {
    SCOPED_TRACE(left);
    const std::string before = read_file(last);
    disk.fill(left);
    const std::string message = error_of([&] { go_on(config); });
    EXPECT_THAT(message, AllOf(HasSubstr(config.output), HasSubstr("No space left on device")));
    EXPECT_EQ(read_file(last), before);
    expect_no_temporary_files(config.output);
    disk.empty();
  }
  go_on(config);
  EXPECT_TRUE(test::same_bits(last_of(config), last_of(whole)));
}

TEST(Faults, R074_AFullDiskAtTheStartIsACleanError) {
  const ToyRun toy("disk2", 20);
  const SmallDisk disk(toy.path("disk"), "1m");
  if (!disk.good()) GTEST_SKIP() << "mounting a small file system needs root";
  const Config config = short_run(toy, "disk/run");
  disk.fill(0);
  Recorder recorder;
  EXPECT_THAT(error_of([&] { (void)ToyRun::run(config, recorder); }),
              AllOf(HasSubstr(config.output), HasSubstr("No space left on device")));
  EXPECT_FALSE(fs::exists(config.output));
  disk.empty();
  (void)ToyRun::run(config, recorder);
}

TEST(Faults, R074_AReadOnlyFolderIsACleanErrorAndItsModelStillLoads) {
  const ToyRun toy("readonly", 20);
  const SmallDisk disk(toy.path("disk"), "8m");
  if (!disk.good()) GTEST_SKIP() << "mounting a small file system needs root";
  Config config = short_run(toy, "disk/run");
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  log::to_file(toy.path("elsewhere.log"));  // an open file keeps its disk writable
  ASSERT_TRUE(disk.make_read_only(true));
  config.training.max_updates = 6;
  EXPECT_THAT(error_of([&] { go_on(config); }),
              AllOf(HasSubstr(config.output), HasSubstr("Read-only file system")));
  EXPECT_NO_THROW((void)load_checkpoint(config.output, torch::kCPU));
  EXPECT_EQ(last_of(config).info.update, 4);
  Config fresh = short_run(toy, "disk/fresh");
  EXPECT_THAT(error_of([&] { (void)ToyRun::run(fresh, recorder); }),
              AllOf(HasSubstr(fresh.output), HasSubstr("Read-only file system")));
  ASSERT_TRUE(disk.make_read_only(false));
  go_on(config);
  EXPECT_EQ(last_of(config).info.update, 6);
}

}  // namespace
}  // namespace verso
