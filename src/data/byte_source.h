#pragma once

#include <memory>
#include <span>
#include <string>

namespace verso {

/// The bytes of a file, decompressed when its first bytes are those of gzip (also several members
/// one after the other) or zstd (also several frames). "-" is standard input. Blocks are handed out
/// as soon as there is anything to hand out, so that a pipe can be answered line by line.
class ByteSource {
 public:
  /// Throws DataError with the system's reason when the file cannot be opened or is a folder.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// The next bytes, valid until the next call; empty at the end. Throws DataError whose message is
  /// the bare reason (read error, damaged or truncated archive): the caller knows path and line.
  [[nodiscard]] std::span<const char> next_block();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace verso
