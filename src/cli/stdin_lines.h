#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace verso {

/// Standard input as lines, for a filter that answers whoever writes to it: waits only while there
/// is nothing to do. Lines as LineReader's: 0x0A ends a line, CRs before it and a byte order mark
/// at the start are dropped, NUL is content, a last line without 0x0A counts.
class StdinLines {
 public:
  /// The next whole lines: waits for the first; then takes what can be had without waiting, up to
  /// `most` lines or about `most_bytes`. Empty at the end. Throws DataError on a read error and for
  /// a line of more than kLongestLine bytes.
  [[nodiscard]] std::vector<std::string> take(std::size_t most, std::size_t most_bytes);

  /// Number of the line that take() gives next, from 1.
  [[nodiscard]] std::int64_t next_number() const { return next_number_; }

 private:
  void read_more();
  [[nodiscard]] bool cut_line(std::string& line);

  std::string buffer_;
  std::size_t begin_ = 0;    // of what is not taken yet
  std::size_t scanned_ = 0;  // no 0x0A before it
  bool ended_ = false;
  std::int64_t next_number_ = 1;
};

}  // namespace verso
