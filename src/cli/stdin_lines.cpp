#include "cli/stdin_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "data/corpus.h"

namespace verso {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// True when read() would not wait.
bool input_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

}  // namespace

void StdinLines::read_more() {
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kBlock);
  ssize_t count = -1;
  do {
    count = ::read(STDIN_FILENO, buffer_.data() + size, kBlock);
  } while (count < 0 && errno == EINTR);
  const int problem = errno;
  buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count < 0) {
    throw DataError(cat("stdin:", next_number_,
                        ": cannot be read: ", std::generic_category().message(problem)));
  }
  ended_ = count == 0;
}

bool StdinLines::cut_line(std::string& line) {
  const std::size_t end = buffer_.find('\n', scanned_);
  const std::size_t stop = std::min(end, buffer_.size());
  if (stop - begin_ > kLongestLine) {
    throw DataError(cat("stdin:", next_number_, ": line of more than ", kLongestLine >> 20,
                        " MiB, expected text with one sentence a line"));
  }
  scanned_ = stop;
  const bool whole = end != std::string::npos;
  if (!whole && (!ended_ || stop == begin_)) return false;
  line.assign(buffer_, begin_, stop - begin_);
  begin_ = scanned_ = stop + (whole ? 1 : 0);
  if (next_number_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  while (whole && line.ends_with('\r')) line.pop_back();
  ++next_number_;
  return true;
}

std::vector<std::string> StdinLines::take(std::size_t most, std::size_t most_bytes) {
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  std::string line;
  try {
    while (lines.size() < most && bytes < most_bytes) {
      if (cut_line(line)) {
        bytes += line.size();
        lines.push_back(std::move(line));
      } else if (ended_ || (!lines.empty() && !input_waits())) {
        break;
      } else {
        read_more();
      }
    }
  } catch (const DataError&) {
    // The lines before it come first; the next call meets the same problem.
    if (lines.empty()) throw;
  }
  return lines;
}

}  // namespace verso
