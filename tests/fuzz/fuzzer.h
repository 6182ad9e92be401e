#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"

/// What the fuzzers share. Each defines LLVMFuzzerTestOneInput; an error of Verso's is a right
/// answer, anything else that is thrown, a sanitizer's report or a broken CHECK is a finding.
namespace verso::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Ends the program, with its input kept by libFuzzer, when a promise is broken.
inline void check(bool promise) {
  if (!promise) std::abort();
}

/// A file in memory with a path, for readers that want one.
class MemoryFile {
 public:
  MemoryFile() : fd_(::memfd_create("fuzz", 0)), path_(cat("/proc/self/fd/", fd_)) {}
  ~MemoryFile() { ::close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// The path, after the content has become `bytes`.
  const std::string& with(std::string_view bytes) {
    check(::ftruncate(fd_, 0) == 0);
    check(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return path_;
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace verso::fuzz
