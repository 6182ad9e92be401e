#include "base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Throws DataError: "path: what: the system's reason". `code` is errno as the failed call left it.
[[noreturn]] void fail(const std::string& path, const char* what, int code) {
  throw DataError(cat(path, ": ", what, ": ", std::generic_category().message(code)));
}

/// Opens `path`, again after signals, or throws.
int open_file(const std::string& path, int flags, const char* what, mode_t mode = 0) {
  if (path.empty()) throw DataError(cat(what, ": the path is empty"));
  while (true) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    if (fd >= 0) return fd;
    if (errno != EINTR) fail(path, what, errno);
  }
}

struct stat status_of(int fd, const std::string& path, const char* what) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) fail(path, what, errno);
  if (S_ISDIR(status.st_mode)) throw DataError(cat(path, ": ", what, ": it is a folder"));
  return status;
}

constexpr const char* kNotWritten = "cannot be written";

/// Writes all bytes, again after signals, or throws for `path`.
void write_all(int fd, const void* data, std::size_t size, const std::string& path) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(fd, next, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(path, kNotWritten, errno);
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

std::string read_file(const std::string& path, std::size_t largest) {
  constexpr const char* kWhat = "cannot be read";
  const Descriptor file(open_file(path, O_RDONLY, kWhat));
  const struct stat status = status_of(file.get(), path, kWhat);
  std::string content;
  if (status.st_size > 0) {
    content.reserve(std::min(static_cast<std::size_t>(status.st_size), largest));
  }
  std::array<char, 1 << 16> buffer{};
  while (true) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path, kWhat, errno);
    if (got == 0) return content;
    const auto size = static_cast<std::size_t>(got);
    if (size > largest - content.size()) {
      throw DataError(cat(path, ": ", kWhat, ": it holds more than the ", largest,
                          " bytes that such a file may have"));
    }
    content.append(buffer.data(), size);
  }
}

MappedFile::MappedFile(const std::string& path) {
  constexpr const char* kWhat = "cannot be mapped into memory";
  const Descriptor file(open_file(path, O_RDONLY, kWhat));
  const struct stat status = status_of(file.get(), path, kWhat);
  if (!S_ISREG(status.st_mode)) throw DataError(cat(path, ": ", kWhat, ": not a regular file"));
  if (status.st_size == 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) fail(path, kWhat, errno);
  data_ = static_cast<const std::byte*>(mapped);
  size_ = size;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

bool file_exists(const std::string& path) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (error) throw DataError(cat(path.substr(0, 300), ": ", error.message()));
  return exists;
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  constexpr const char* kWhat = kNotWritten;
  if (path_.empty()) throw DataError(cat("output ", kWhat, ": the path is empty"));
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    throw DataError(cat(path_, ": ", kWhat, ": it is a folder"));
  }
  if (exists && !S_ISREG(status.st_mode)) {
    // Pipes and devices (/dev/stdout) are written in place: a rename would replace the device.
    fd_ = open_file(path_, O_WRONLY, kWhat);
    return;
  }
  if (exists) path_ = std::filesystem::canonical(path_).string();  // a link stays a link
  static std::atomic<unsigned> counter{0};
  temporary_ = cat(path_, ".", ::getpid(), ".", counter++, ".tmp");
  // A file of this name can only be what a dead process with our number left.
  ::unlink(temporary_.c_str());
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) fail(path_, kWhat, errno);
  if (exists) static_cast<void>(::fchmod(fd_, status.st_mode & 0777));
}

AtomicFile::~AtomicFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t size) { write_all(fd_, data, size, path_); }

void AtomicFile::commit() {
  constexpr const char* kWhat = kNotWritten;
  const bool in_place = temporary_.empty();
  // Pipes and some devices cannot be synced, and need not be.
  if (::fsync(fd_) != 0 && !in_place) fail(path_, kWhat, errno);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) {
    const int reason = errno;
    if (!in_place) ::unlink(temporary_.c_str());
    fail(path_, kWhat, reason);
  }
  if (in_place) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary_.c_str());
    fail(path_, kWhat, reason);
  }
  const Descriptor folder(open_file(folder_of(path_), O_RDONLY | O_DIRECTORY, kWhat));
  // Some network file systems cannot sync folders; the file itself is safe by then.
  if (::fsync(folder.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    fail(folder_of(path_), kWhat, errno);
  }
}

AppendFile::AppendFile(std::string path) : path_(std::move(path)) {
  Descriptor file(open_file(path_, O_WRONLY | O_CREAT | O_APPEND, kNotWritten, 0666));
  static_cast<void>(status_of(file.get(), path_, kNotWritten));
  fd_ = file.release();
}

AppendFile::~AppendFile() { ::close(fd_); }

void AppendFile::append(std::string_view text) {
  const off_t before = ::lseek(fd_, 0, SEEK_END);
  try {
    write_all(fd_, text.data(), text.size(), path_);
  } catch (const DataError&) {
    if (before >= 0) static_cast<void>(::ftruncate(fd_, before));
    throw;
  }
}

void AppendFile::sync() {
  if (::fsync(fd_) != 0 && errno != EINVAL) fail(path_, kNotWritten, errno);
}

void write_file_atomically(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

FileLock::FileLock(std::string path) {
  Descriptor file(open_file(path, O_RDWR | O_CREAT, "the lock cannot be opened", 0666));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail(path, "the lock cannot be taken", errno);
    std::array<char, 32> holder{};
    const ssize_t got = ::pread(file.get(), holder.data(), holder.size(), 0);
    const std::string pid = normalize_spaces(
        std::string_view(holder.data(), got > 0 ? static_cast<std::size_t>(got) : 0));
    throw DataError(cat(path, ": in use by process ", pid.empty() ? "(unknown)" : pid,
                        "; wait for it to end, or stop it"));
  }
  const std::string pid = cat(::getpid(), "\n");
  const auto size = static_cast<ssize_t>(pid.size());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), pid.data(), pid.size(), 0) != size) {
    fail(path, "the lock cannot be written", errno);
  }
  fd_ = file.release();
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace verso
