#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/torch_api.h"

/// The safetensors format, reader and writer:
///   8 bytes   length of the header, little-endian
///   header    JSON: {"__metadata__": {name: text, …},
///                    name: {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …}
///   data      the tensors' bytes, row by row, little-endian; offsets count from here and leave no
///             hole
/// Types: F64 F32 F16 BF16 I64 I32 U8 BOOL. Nothing in a file is ever executed.
namespace verso {

/// A file's content. Metadata and names are UTF-8.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<std::pair<std::string, Tensor>> tensors;
};

/// Where a tensor stands in a file.
struct TensorEntry {
  std::string name;
  torch::ScalarType dtype = torch::ScalarType::Undefined;
  std::vector<int64_t> shape;
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

/// Maps the file at `path`. The tensors are views of the map, which lives as long as they do: they
/// must not be written to. Throws CheckpointError.
[[nodiscard]] TensorFile read_safetensors(const std::string& path, Integrity integrity);

/// Writes `file` with its checksum, atomically (base/files.h). Tensors of any device and layout;
/// their order is the file's, but wider types go first so that each stands at a multiple of its
/// element's size. Throws CheckpointError with path and the system's reason, and when a name or
/// text is not UTF-8, twice there, or too long for the format.
void write_safetensors(const std::string& path, const TensorFile& file);

/// "F32" and so on; "" for a type that the format or this reader does not have.
[[nodiscard]] std::string safetensors_dtype(torch::ScalarType dtype);

}  // namespace verso
