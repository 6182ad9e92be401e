#include "data/digest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace verso {

void Digest::add_bytes(std::string_view bytes) noexcept {
  constexpr Word kPrime = (Word{1} << 88) | 0x13b;
  for (const char byte : bytes) state_ = (state_ ^ static_cast<unsigned char>(byte)) * kPrime;
}

void Digest::add_field(std::string_view field) noexcept {
  const std::uint64_t size = field.size();
  for (int shift = 0; shift < 64; shift += 8) {
    const char byte = static_cast<char>(size >> shift);
    add_bytes({&byte, 1});
  }
  add_bytes(field);
}

void Digest::add_file(const std::string& path) {
  require_regular_file(path);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw DataError(cat(path, ": cannot be opened: ", std::strerror(errno)));
  std::vector<char> block(1 << 20);
  std::int64_t size = 0;
  ssize_t count = 0;
  do {
    count = ::read(fd, block.data(), block.size());
    if (count > 0) {
      add_bytes({block.data(), static_cast<std::size_t>(count)});
      size += count;
    }
  } while (count > 0 || (count < 0 && errno == EINTR));
  const int reason = errno;
  ::close(fd);
  if (count < 0) throw DataError(cat(path, ": cannot be read: ", std::strerror(reason)));
  add_field(cat(size));
}

std::string Digest::hex() const {
  std::string text;
  for (int shift = 124; shift >= 0; shift -= 4) {
    text += "0123456789abcdef"[static_cast<unsigned>(state_ >> shift) & 15];
  }
  return text;
}

void require_regular_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw DataError(cat(path, ": cannot be opened: ", std::strerror(errno)));
  }
  if (!S_ISREG(status.st_mode)) {
    throw DataError(cat(path,
                        ": expected a regular file, as training text is read more than once; "
                        "write a pipe's output to a file first"));
  }
}

}  // namespace verso
