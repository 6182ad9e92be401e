#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace verso {

/// The whole file as bytes. Throws DataError with path and the system's reason, also when there are
/// more than `largest` bytes (so that a device or a wrong file cannot fill the memory).
[[nodiscard]] std::string read_file(const std::string& path,
                                    std::size_t largest = std::numeric_limits<std::size_t>::max());

/// Whether something is there; throws DataError with path and the system's reason where that cannot
/// be found out (a loop of links, a folder that may not be entered).
[[nodiscard]] bool file_exists(const std::string& path);

/// A read-only memory map of a whole file (empty file: empty span). Throws DataError. Unmapped by
/// the destructor; share it by shared_ptr where tensors or spans point into it.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file written under a temporary name in the same folder and renamed over `path` by commit(),
/// after fsync of the file; then the folder is fsynced. Without commit() the destructor removes the
/// temporary file and `path` is untouched. Every failed write throws DataError with path and the
/// system's reason (full disk, read-only folder).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  void write(const void* data, std::size_t size);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();

 private:
  std::string path_, temporary_;
  int fd_ = -1;
};

/// A file that grows at its end, as a log does; made when missing. Throws DataError with path and
/// the system's reason.
class AppendFile {
 public:
  explicit AppendFile(std::string path);
  ~AppendFile();
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  /// All of `text` or, when that fails, nothing of it.
  void append(std::string_view text);
  /// Returns once the disk has what was appended.
  void sync();

 private:
  std::string path_;
  int fd_ = -1;
};

/// write_file_atomically(path, text): AtomicFile in one call.
void write_file_atomically(const std::string& path, std::string_view text);

/// An exclusive lock on `path` (created if missing) for the life of the object; the kernel drops it
/// when the process dies, so a dead process keeps nothing. Throws DataError naming the holder's
/// process id when another process has it.
class FileLock {
 public:
  explicit FileLock(std::string path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace verso
