#include "data/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr std::size_t kBlock = 1 << 16;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
// Skippable zstd frames start with one of 0x50..0x5f and these bytes; parallel writers put one
// first.
constexpr std::string_view kZstdSkippable = "\x2a\x4d\x18";

enum class Format { kUndecided, kPlain, kGzip, kZstd };

// Decides as early as the bytes allow: a pipe that gives "a\n" and waits must not be kept waiting.
Format find_format(std::string_view start, bool at_end) {
  const auto agrees = [&](std::string_view magic, std::size_t from) {
    const std::size_t count = std::min(magic.size(), start.size() - from);
    return start.substr(from, count) == magic.substr(0, count);
  };
  if (start.empty()) return at_end ? Format::kPlain : Format::kUndecided;
  const bool skippable = (start[0] & 0xf0) == 0x50 && agrees(kZstdSkippable, 1);
  if (agrees(kGzipMagic, 0)) {
    if (start.size() >= kGzipMagic.size()) return Format::kGzip;
  } else if (agrees(kZstdMagic, 0) || skippable) {
    if (start.size() >= kZstdMagic.size()) return Format::kZstd;
  } else {
    return Format::kPlain;
  }
  return at_end ? Format::kPlain : Format::kUndecided;
}

class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Takes bytes from the front of `input`; returns how many it wrote to `output`.
  virtual std::size_t decode(std::string_view& input, std::span<char> output) = 0;
  /// True when the archive may end here.
  [[nodiscard]] virtual bool complete() const = 0;
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw DataError("zlib cannot be started");
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  std::size_t decode(std::string_view& input, std::span<char> output) override {
    if (between_members_) skip_padding(input);
    if (between_members_ && !input.empty()) {
      inflateReset(&stream_);
      between_members_ = false;
    }
    if (between_members_) return 0;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    input.remove_prefix(input.size() - stream_.avail_in);
    if (result == Z_STREAM_END) {
      between_members_ = true;
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      throw DataError(
          cat("damaged gzip data (", stream_.msg ? stream_.msg : "unknown reason", ")"));
    }
    return output.size() - stream_.avail_out;
  }
  [[nodiscard]] bool complete() const override { return between_members_; }

 private:
  // Tapes and block devices fill the last block with zeros.
  static void skip_padding(std::string_view& input) {
    input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));
  }
  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw DataError("zstd cannot be started");
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
  ZstdDecoder(const ZstdDecoder&) = delete;
  ZstdDecoder& operator=(const ZstdDecoder&) = delete;

  std::size_t decode(std::string_view& input, std::span<char> output) override {
    // Between frames a call without input would count as the start of another frame.
    if (complete_ && input.empty()) return 0;
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(result)) {
      throw DataError(cat("damaged zstd data (", ZSTD_getErrorName(result), ")"));
    }
    input.remove_prefix(in.pos);
    complete_ = result == 0;
    return out.pos;
  }
  [[nodiscard]] bool complete() const override { return complete_; }

 private:
  ZSTD_DStream* stream_;
  bool complete_ = false;
};

}  // namespace

struct ByteSource::Impl {
  int fd = -1;
  bool at_end = false;
  std::vector<char> raw = std::vector<char>(kBlock);
  std::vector<char> decoded;
  std::string_view input;  // what of `raw` has not been used
  std::unique_ptr<Decoder> decoder;
  Format format = Format::kUndecided;

  ~Impl() {
    if (fd > STDIN_FILENO) ::close(fd);
  }

  // Appends to what is there already; one read, so that whatever a pipe holds is used at once.
  void read_more(std::size_t kept) {
    ssize_t count = -1;
    do {
      count = ::read(fd, raw.data() + kept, raw.size() - kept);
    } while (count < 0 && errno == EINTR);
    if (count < 0) throw DataError(cat("cannot be read: ", std::strerror(errno)));
    at_end = count == 0;
    input = {raw.data(), kept + static_cast<std::size_t>(count)};
  }

  void decide_format() {
    while (format == Format::kUndecided) {
      read_more(input.size());
      format = find_format(input, at_end);
    }
    if (format == Format::kGzip) decoder = std::make_unique<GzipDecoder>();
    if (format == Format::kZstd) decoder = std::make_unique<ZstdDecoder>();
    if (decoder) decoded.resize(kBlock);
  }
};

ByteSource::ByteSource(const std::string& path) : impl_(std::make_unique<Impl>()) {
  if (path == "-") {
    impl_->fd = STDIN_FILENO;
  } else {
    impl_->fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (impl_->fd < 0) throw DataError(cat(path, ": cannot be opened: ", std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(impl_->fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    throw DataError(cat(path, ": is a folder, expected a file of text"));
  }
}

ByteSource::~ByteSource() = default;

std::span<const char> ByteSource::next_block() {
  Impl& self = *impl_;
  if (self.format == Format::kUndecided) self.decide_format();
  if (!self.decoder) {
    if (self.input.empty() && !self.at_end) self.read_more(0);
    const std::string_view block = self.input;
    self.input = {};
    return block;
  }
  for (;;) {
    const std::size_t written = self.decoder->decode(self.input, self.decoded);
    if (written > 0) return {self.decoded.data(), written};
    if (!self.input.empty()) continue;
    if (self.at_end) {
      if (!self.decoder->complete()) throw DataError("the archive ends early: it is truncated");
      return {};
    }
    self.read_more(0);
  }
}

}  // namespace verso
