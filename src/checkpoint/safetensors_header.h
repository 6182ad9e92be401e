#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

/// The part of a safetensors file that has to be understood before anything in it is used. It needs
/// no LibTorch, so that it can be fuzzed as it is.
namespace verso {

enum class Dtype { kF64, kF32, kF16, kBf16, kI64, kI32, kU8, kBool };
/// "F64" and so on, as files name it.
[[nodiscard]] const char* dtype_name(Dtype dtype);
/// Bytes of one element.
[[nodiscard]] std::uint64_t dtype_size(Dtype dtype);

/// Where a tensor stands in a file.
struct TensorEntry {
  std::string name;
  Dtype dtype = Dtype::kF32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  ///< in bytes, from the start of the data
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorEntry> tensors;  ///< in the order of their data
  std::uint64_t data_begin = 0;      ///< in bytes, from the start of the file
};

/// Largest header that is read or written, as in Python's safetensors.
inline constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

enum class Integrity {
  kStructure,  ///< any safetensors file
  kChecksum,   ///< one that write_safetensors() made and nothing changed since (checksum.h)
};

/// Reads and checks the header of `file` (a whole file's bytes): checksum when asked for, JSON,
/// types, shapes, and that the tensors fill the data exactly. Needs memory in proportion to the
/// header. Any bytes may be given; throws CheckpointError naming `path` and what is wrong, or what
/// the file seems to be instead.
[[nodiscard]] SafetensorsHeader read_safetensors_header(std::span<const std::byte> file,
                                                        const std::string& path,
                                                        Integrity integrity);

}  // namespace verso
