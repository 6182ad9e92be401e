#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verso {

/// 128-bit FNV-1a over bytes: the same for the same bytes on every machine. Not for security; equal
/// digests of different texts do not happen by accident.
class Digest {
 public:
  void add_bytes(std::string_view bytes) noexcept;
  /// A field with its length before it, so that neighbouring fields cannot trade bytes.
  void add_field(std::string_view field) noexcept;
  /// The bytes of a file and their number. Throws DataError when `path` is not a regular file (it
  /// is read more than once) or cannot be read.
  void add_file(const std::string& path);
  /// 32 hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  __extension__ using Word = unsigned __int128;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
};

/// Throws DataError unless `path` is a regular file: training text is read several times.
void require_regular_file(const std::string& path);

}  // namespace verso
