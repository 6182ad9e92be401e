#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// The checksum that covers a whole file: 24 lower-case hexadecimal digits, the CRC-32 (zlib's) of
/// the file with these digits taken as "0", then the file's length in bytes (16 digits). It is the
/// first metadata entry, so its place is fixed. A single changed bit is always noticed, any other
/// damage but for one in four thousand million.
namespace verso {

/// What the header of a file with a checksum starts with.
inline constexpr std::string_view kChecksumStart = R"({"__metadata__":{"verso.checksum":")";
inline constexpr std::string_view kChecksumKey = "verso.checksum";
inline constexpr std::size_t kChecksumDigits = 24;
/// Place of the digits: after the 8 bytes that hold the header's length.
inline constexpr std::size_t kChecksumOffset = 8 + kChecksumStart.size();

/// zlib's CRC-32 of `bytes`, going on from `before` (0 at the start).
[[nodiscard]] std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The digits for a file of `head` and then `data_size` bytes whose CRC-32 is `data_crc`.
/// REQUIRES that `head` holds "0" at the digits' place.
[[nodiscard]] std::string make_checksum(std::span<const std::byte> head, std::uint32_t data_crc,
                                        std::uint64_t data_size);

/// Throws CheckpointError naming `path` when `file` has no checksum at its place, or another length
/// or content than when it was written.
void verify_checksum(std::span<const std::byte> file, const std::string& path);

}  // namespace verso
