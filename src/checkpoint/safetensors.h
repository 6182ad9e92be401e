#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/safetensors_header.h"
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
