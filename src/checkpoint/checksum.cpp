#include "checkpoint/checksum.h"

#include <zlib.h>

#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr std::size_t kCrcDigits = 8;
constexpr std::size_t kLengthDigits = kChecksumDigits - kCrcDigits;

std::string hex(std::uint64_t value, std::size_t digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string text(digits, '0');
  for (std::size_t i = digits; i > 0; --i, value >>= 4) text[i - 1] = kHex[value & 0xF];
  return text;
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  if (bytes.empty()) return before;  // zlib takes a null pointer as the wish to start anew
  return static_cast<std::uint32_t>(
      ::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string make_checksum(std::span<const std::byte> head, std::uint32_t data_crc,
                          std::uint64_t data_size) {
  const uLong crc = ::crc32_combine(crc32_of(head), data_crc, static_cast<z_off_t>(data_size));
  return hex(crc, kCrcDigits) + hex(head.size() + data_size, kLengthDigits);
}

void verify_checksum(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text = as_text(file);
  if (file.size() < kChecksumOffset + kChecksumDigits ||
      text.substr(8, kChecksumStart.size()) != kChecksumStart) {
    throw CheckpointError(cat(path,
                              ": damaged, or not written by Verso: there is no checksum at the "
                              "start of its header; take another copy of it"));
  }
  const std::string_view found = text.substr(kChecksumOffset, kChecksumDigits);
  const std::string length = hex(file.size(), kLengthDigits);
  if (found.substr(kCrcDigits) != length) {
    std::uint64_t expected = 0;
    const auto parsed =
        std::from_chars(found.data() + kCrcDigits, found.data() + found.size(), expected, 16);
    const bool known = parsed.ec == std::errc() && parsed.ptr == found.data() + found.size();
    throw CheckpointError(cat(path, ": damaged: it has ", file.size(), " bytes, expected ",
                              known ? cat(expected) : "another number",
                              "; take another copy of it"));
  }
  const std::string zeros(kChecksumDigits, '0');
  std::uint32_t crc = crc32_of(file.first(kChecksumOffset));
  crc = crc32_of(std::as_bytes(std::span(zeros)), crc);
  crc = crc32_of(file.subspan(kChecksumOffset + kChecksumDigits), crc);
  if (found.substr(0, kCrcDigits) != hex(crc, kCrcDigits)) {
    throw CheckpointError(
        cat(path, ": damaged: its content has the checksum ", hex(crc, kCrcDigits), ", expected ",
            replace_invalid_utf8(found.substr(0, kCrcDigits)), "; take another copy of it"));
  }
}

}  // namespace verso
