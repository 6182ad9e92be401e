#include "checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checksum.h"

namespace verso {
namespace {

/// LibTorch's types in the order of Dtype.
constexpr std::array<torch::ScalarType, 8> kScalarTypes{
    torch::ScalarType::Double,   torch::ScalarType::Float, torch::ScalarType::Half,
    torch::ScalarType::BFloat16, torch::ScalarType::Long,  torch::ScalarType::Int,
    torch::ScalarType::Byte,     torch::ScalarType::Bool};

/// A tensor ready to be written.
struct Item {
  const std::string* name;
  Tensor tensor;  ///< CPU, contiguous
};

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.data_ptr()),
          static_cast<std::size_t>(tensor.nbytes())};
}

std::vector<Item> prepare(const std::string& path, const TensorFile& file) {
  std::vector<Item> items;
  std::set<std::string> names{"__metadata__"};
  for (const auto& [name, tensor] : file.tensors) {
    if (!tensor.defined() || safetensors_dtype(tensor.scalar_type()).empty()) {
      throw CheckpointError(cat(path, ": cannot be written: the tensor ", json_quote(name),
                                " has a type that safetensors files do not hold"));
    }
    if (!names.insert(name).second || find_invalid_utf8(name)) {
      throw CheckpointError(cat(path, ": cannot be written: the tensor name ", json_quote(name),
                                " is there twice, reserved or not UTF-8"));
    }
    items.push_back({&name, tensor.detach().to(torch::kCPU).contiguous()});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return a.tensor.element_size() > b.tensor.element_size();
  });
  return items;
}

/// The header's JSON, padded so that the data starts at a multiple of 8, with zeros as checksum.
std::string header_json(const std::string& path, const TensorFile& file,
                        const std::vector<Item>& items) {
  std::string json(kChecksumStart);
  json += std::string(kChecksumDigits, '0') + '"';
  for (const auto& [key, text] : file.metadata) {
    if (key == kChecksumKey) continue;  // a file that was read and is written again
    if (find_invalid_utf8(key) || find_invalid_utf8(text)) {
      throw CheckpointError(cat(path, ": cannot be written: the entry ", json_quote(key),
                                " is not UTF-8: ", json_quote(text.substr(0, 200))));
    }
    json += cat(',', json_quote(key), ':', json_quote(text));
  }
  json += '}';
  std::uint64_t begin = 0;
  for (const Item& item : items) {
    std::string shape;
    for (const int64_t size : item.tensor.sizes()) shape += cat(shape.empty() ? "" : ",", size);
    const std::uint64_t end = begin + item.tensor.nbytes();
    json += cat(',', json_quote(*item.name), R"(:{"dtype":")",
                safetensors_dtype(item.tensor.scalar_type()), R"(","shape":[)", shape,
                R"(],"data_offsets":[)", begin, ',', end, "]}");
    begin = end;
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > kMaxHeaderBytes) {
    throw CheckpointError(cat(path, ": cannot be written: its header would have ", json.size(),
                              " bytes, the format allows ", kMaxHeaderBytes));
  }
  return json;
}

/// A view of `bytes`, which `map` keeps; a copy where the file is not aligned for the type.
Tensor make_tensor(const TensorEntry& entry, std::span<const std::byte> bytes,
                   const std::shared_ptr<const MappedFile>& map) {
  const auto options =
      torch::TensorOptions().dtype(kScalarTypes.at(static_cast<std::size_t>(entry.dtype)));
  if (bytes.empty()) return at::empty(entry.shape, options);
  void* data = const_cast<std::byte*>(bytes.data());
  if (reinterpret_cast<std::uintptr_t>(data) % dtype_size(entry.dtype) != 0) {
    Tensor copy = at::empty(entry.shape, options);
    std::memcpy(copy.data_ptr(), data, bytes.size());
    return copy;
  }
  return at::from_blob(
      data, entry.shape, [map](void*) {}, options);
}

}  // namespace

std::string safetensors_dtype(torch::ScalarType dtype) {
  const auto* found = std::find(kScalarTypes.begin(), kScalarTypes.end(), dtype);
  if (found == kScalarTypes.end()) return {};
  return dtype_name(static_cast<Dtype>(found - kScalarTypes.begin()));
}

TensorFile read_safetensors(const std::string& path, Integrity integrity) {
  std::shared_ptr<const MappedFile> map;
  try {
    map = std::make_shared<const MappedFile>(path);
  } catch (const DataError& problem) {
    throw CheckpointError(problem.what());
  }
  const std::span<const std::byte> bytes = map->bytes();
  SafetensorsHeader header = read_safetensors_header(bytes, path, integrity);
  TensorFile file;
  file.metadata = std::move(header.metadata);
  for (TensorEntry& entry : header.tensors) {
    const auto data = bytes.subspan(header.data_begin + entry.begin, entry.end - entry.begin);
    if (entry.dtype == Dtype::kBool &&
        std::any_of(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; })) {
      throw CheckpointError(cat(path, ": damaged: ", json_quote(entry.name),
                                " holds truth values that are neither 0 nor 1"));
    }
    Tensor tensor = make_tensor(entry, data, map);
    file.tensors.emplace_back(std::move(entry.name), std::move(tensor));
  }
  return file;
}

void write_safetensors(const std::string& path, const TensorFile& file) {
  const std::vector<Item> items = prepare(path, file);
  const std::string json = header_json(path, file, items);
  const std::uint64_t length = json.size();
  std::string head(sizeof length, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  head += json;

  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  for (const Item& item : items) {
    crc = crc32_of(bytes_of(item.tensor), crc);
    size += item.tensor.nbytes();
  }
  head.replace(kChecksumOffset, kChecksumDigits,
               make_checksum(std::as_bytes(std::span(head)), crc, size));
  try {
    AtomicFile out(path);
    out.write(head);
    for (const Item& item : items) out.write(item.tensor.data_ptr(), item.tensor.nbytes());
    out.commit();
  } catch (const DataError& problem) {
    throw CheckpointError(problem.what());
  }
}

}  // namespace verso
