#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "data/byte_source.h"
#include "data/corpus.h"

namespace verso {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

struct LineReader::Impl {
  explicit Impl(std::string file) : source(file), path(file == "-" ? "stdin" : std::move(file)) {}

  ByteSource source;
  std::string path;
  std::span<const char> block;
  std::int64_t number = 0;

  // Moves bytes up to the next 0x0A to the end of `line`; true when the 0x0A was found.
  bool take_from_block(std::string& line) {
    const void* end = std::memchr(block.data(), '\n', block.size());
    const std::size_t count =
        end == nullptr ? block.size()
                       : static_cast<std::size_t>(static_cast<const char*>(end) - block.data());
    if (line.size() + count > kLongestLine) {
      throw DataError(cat("line of more than ", kLongestLine >> 20,
                          " MiB, expected text with one sentence a line"));
    }
    line.append(block.data(), count);
    block = block.subspan(count + (end == nullptr ? 0 : 1));
    return end != nullptr;
  }

  bool next(std::string& line) {
    line.clear();
    bool ended = false;
    while (!ended) {
      if (block.empty()) block = source.next_block();
      if (block.empty()) break;
      ended = take_from_block(line);
    }
    if (number == 0 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
    if (!ended && line.empty()) return false;
    while (ended && line.ends_with('\r')) line.pop_back();
    ++number;
    return true;
  }
};

LineReader::LineReader(std::string path) : impl_(std::make_unique<Impl>(std::move(path))) {}

LineReader::~LineReader() = default;

bool LineReader::next(std::string& line) {
  try {
    return impl_->next(line);
  } catch (const DataError& error) {
    throw DataError(cat(impl_->path, ":", impl_->number + 1, ": ", error.what()));
  }
}

std::int64_t LineReader::line_number() const { return impl_->number; }

const std::string& LineReader::path() const { return impl_->path; }

}  // namespace verso
