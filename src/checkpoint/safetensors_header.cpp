#include "checkpoint/safetensors_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checksum.h"

namespace verso {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian");

/// More dimensions than any tensor has; keeps a hostile shape short.
constexpr std::size_t kMaxDimensions = 32;

struct DtypeRow {
  const char* name;
  std::uint64_t size;
};
/// In the order of Dtype.
constexpr std::array<DtypeRow, 8> kDtypes{{
    {"F64", 8},
    {"F32", 4},
    {"F16", 2},
    {"BF16", 2},
    {"I64", 8},
    {"I32", 4},
    {"U8", 1},
    {"BOOL", 1},
}};

/// A name from a file as it may stand in a message: quoted, of readable length.
std::string shown(std::string_view name) {
  constexpr std::size_t kLongest = 80;
  return name.size() <= kLongest ? json_quote(name) : json_quote(name.substr(0, kLongest)) + "…";
}

/// Reads the JSON token by token, so that nothing but what the format allows is ever built. Each
/// function returns false to stop at once, with the reason in problem().
class HeaderHandler {
 public:
  explicit HeaderHandler(SafetensorsHeader& header) : header_(header) {}

  [[nodiscard]] const std::string& problem() const { return problem_; }

  bool start_object(std::size_t) {
    if (place_ == Place::kStart) {
      place_ = Place::kTop;
    } else if (place_ == Place::kTop && key_ == "__metadata__") {
      if (has_metadata_) return fail("__metadata__ is there twice");
      has_metadata_ = true;
      place_ = Place::kMetadata;
    } else if (place_ == Place::kTop) {
      entry_ = TensorEntry{};
      entry_.name = key_;
      offsets_.clear();
      has_dtype_ = has_shape_ = has_offsets_ = false;
      place_ = Place::kTensor;
    } else {
      return fail(cat("an object at ", where(), " where the format has none"));
    }
    return true;
  }

  bool key(std::string& name) {
    key_ = name;
    if (place_ != Place::kTensor) return true;
    bool* seen = key_ == "dtype"          ? &has_dtype_
                 : key_ == "shape"        ? &has_shape_
                 : key_ == "data_offsets" ? &has_offsets_
                                          : nullptr;
    if (seen == nullptr) return fail(cat("unknown key ", shown(key_), " of ", shown(entry_.name)));
    if (*seen) return fail(cat(key_, " of ", shown(entry_.name), " is there twice"));
    *seen = true;
    return true;
  }

  bool end_object() {
    if (place_ == Place::kTensor) {
      if (!has_dtype_ || !has_shape_ || !has_offsets_) {
        return fail(cat(shown(entry_.name), " lacks ",
                        !has_dtype_   ? "dtype"
                        : !has_shape_ ? "shape"
                                      : "data_offsets"));
      }
      header_.tensors.push_back(std::move(entry_));
    }
    place_ = place_ == Place::kTop ? Place::kEnd : Place::kTop;
    return true;
  }

  bool start_array(std::size_t) {
    if (place_ == Place::kTensor && key_ == "shape") {
      place_ = Place::kShape;
    } else if (place_ == Place::kTensor && key_ == "data_offsets") {
      place_ = Place::kOffsets;
    } else {
      return fail(cat("a list at ", where(), " where the format has none"));
    }
    return true;
  }

  bool end_array() {
    if (place_ == Place::kOffsets) {
      if (offsets_.size() != 2) {
        return fail(cat("data_offsets of ", shown(entry_.name), " has ", offsets_.size(),
                        " numbers, expected 2"));
      }
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
    }
    place_ = Place::kTensor;
    return true;
  }

  bool string(std::string& text) {
    if (place_ == Place::kMetadata) {
      if (header_.metadata.emplace(key_, std::move(text)).second) return true;
      return fail(cat("metadata entry ", shown(key_), " is there twice"));
    }
    if (place_ != Place::kTensor || key_ != "dtype") {
      return fail(cat("a text at ", where(), " where the format has none"));
    }
    const auto* known = std::find_if(kDtypes.begin(), kDtypes.end(),
                                     [&](const DtypeRow& row) { return text == row.name; });
    if (known == kDtypes.end()) {
      return fail(cat(shown(entry_.name), " has the dtype ", shown(text),
                      ", expected F64, F32, F16, BF16, I64, I32, U8 or BOOL"));
    }
    entry_.dtype = static_cast<Dtype>(known - kDtypes.begin());
    return true;
  }

  bool number_unsigned(std::uint64_t value) {
    if (place_ == Place::kShape) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return number();
      if (entry_.shape.size() == kMaxDimensions) {
        return fail(cat(shown(entry_.name), " has more than ", kMaxDimensions, " dimensions"));
      }
      entry_.shape.push_back(static_cast<std::int64_t>(value));
      return true;
    }
    if (place_ != Place::kOffsets || offsets_.size() == 2) return number();
    offsets_.push_back(value);
    return true;
  }

  bool number_integer(std::int64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
  bool boolean(bool) { return fail(cat("true or false at ", where(), ", which is no value here")); }
  bool null() { return fail(cat("null at ", where(), ", which is no value here")); }
  bool binary(std::vector<std::uint8_t>&) { return fail("binary data"); }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    return fail(cat("no valid JSON in UTF-8 at byte ", position));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool number() {
    return fail(
        cat("a number at ", where(), " that is negative, fractional, too large or too many"));
  }
  [[nodiscard]] std::string where() const {
    if (place_ == Place::kStart) return "its start";
    const bool inside =
        place_ == Place::kTensor || place_ == Place::kShape || place_ == Place::kOffsets;
    return inside ? cat(key_, " of ", shown(entry_.name)) : shown(key_);
  }

  SafetensorsHeader& header_;
  Place place_ = Place::kStart;
  std::string key_, problem_;
  TensorEntry entry_;
  std::vector<std::uint64_t> offsets_;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

/// Throws CheckpointError: "path: damaged: problem".
[[noreturn]] void damaged(const std::string& path, const std::string& problem) {
  throw CheckpointError(cat(path, ": damaged: ", problem));
}

/// What a file that starts like none of ours is, as far as its first bytes tell.
std::string guess_kind(std::string_view start) {
  if (start.starts_with("PK\x03\x04")) return "it is a ZIP archive (PyTorch's .pt files are)";
  if (start.starts_with("\x80\x02")) return "it is a Python pickle (older .pt files are)";
  if (start.starts_with("\x1F\x8B")) return "it is compressed by gzip";
  if (start.starts_with("\x28\xB5\x2F\xFD")) return "it is compressed by zstd";
  const bool text = std::all_of(start.begin(), start.end(), [](char c) {
    return is_ascii_space(c) || static_cast<unsigned char>(c) >= 0x20;
  });
  return text ? "it looks like a text file" : "it starts as no such file does";
}

/// The header's JSON text.
std::string_view header_text(std::span<const std::byte> file, const std::string& path) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.empty()) damaged(path, "the file is empty");
  if (text.size() < 8) damaged(path, cat("the file ends after ", text.size(), " bytes"));
  std::uint64_t length = 0;
  std::memcpy(&length, text.data(), sizeof length);
  const bool opened = text.size() == 8 || text[8] == '{';
  if (!opened || length > kMaxHeaderBytes || length < 2) {
    throw CheckpointError(cat(path, ": not a checkpoint, or damaged in its first bytes: ",
                              guess_kind(text.substr(0, 64)), "; expected a safetensors file"));
  }
  if (length > text.size() - 8) {
    damaged(path,
            cat("the file ends after ", text.size(), " bytes, its header alone has ", length));
  }
  return text.substr(8, length);
}

/// Checks one tensor's shape against its bytes.
void check_size(const TensorEntry& entry, std::uint64_t data_size, const std::string& path) {
  if (entry.begin > entry.end || entry.end > data_size) {
    damaged(path, cat(shown(entry.name), " is said to take the bytes from ", entry.begin, " to ",
                      entry.end, " of ", data_size));
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = dtype_size(entry.dtype);
  // Strides are products too, so a dimension of 0 must not hide that the others overflow.
  std::uint64_t product = bytes;
  for (const std::int64_t dimension : entry.shape) {
    const auto size = static_cast<std::uint64_t>(dimension);
    const std::uint64_t factor = std::max<std::uint64_t>(size, 1);
    if (product > kMost / factor)
      damaged(path, cat("the shape of ", shown(entry.name), " overflows"));
    product *= factor;
    bytes *= size;
  }
  if (bytes != entry.end - entry.begin) {
    damaged(path, cat(shown(entry.name), " has ", entry.end - entry.begin,
                      " bytes, its shape and dtype need ", bytes));
  }
}

/// Checks that every tensor's bytes follow the one before, from the first byte of the data to the
/// last.
void check_layout(const std::vector<TensorEntry>& tensors, std::uint64_t data_size,
                  const std::string& path) {
  std::unordered_set<std::string_view> names;
  std::uint64_t next = 0;
  for (const TensorEntry& entry : tensors) {
    if (!names.insert(entry.name).second) damaged(path, cat(shown(entry.name), " is there twice"));
    if (entry.begin != next) {
      damaged(path, cat(shown(entry.name), " starts at byte ", entry.begin, " of the data, ",
                        entry.begin < next ? "inside the tensor before it, which ends at "
                                           : "behind a hole from ",
                        next));
    }
    next = entry.end;
  }
  if (next != data_size) {
    damaged(path, cat("its tensors take ", next, " bytes, the file has ", data_size, " for them"));
  }
}

}  // namespace

const char* dtype_name(Dtype dtype) { return kDtypes.at(static_cast<std::size_t>(dtype)).name; }

std::uint64_t dtype_size(Dtype dtype) { return kDtypes.at(static_cast<std::size_t>(dtype)).size; }

SafetensorsHeader read_safetensors_header(std::span<const std::byte> file, const std::string& path,
                                          Integrity integrity) {
  const std::string_view text = header_text(file, path);
  if (integrity == Integrity::kChecksum) verify_checksum(file, path);
  SafetensorsHeader header;
  header.data_begin = 8 + text.size();
  HeaderHandler handler(header);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &handler)) {
    damaged(path, cat("its header has ", handler.problem()));
  }
  const std::uint64_t data_size = file.size() - header.data_begin;
  for (const TensorEntry& entry : header.tensors) check_size(entry, data_size, path);
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
            });
  check_layout(header.tensors, data_size, path);
  return header;
}

}  // namespace verso
