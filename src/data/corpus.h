#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/link_format.h"

namespace verso {

/// Longest line in bytes. A longer one is an error: it is no sentence, and a small archive could
/// otherwise fill the memory.
inline constexpr std::size_t kLongestLine = std::size_t{64} << 20;

/// Lines of a file (plain, gzip or zstd, told by the first bytes; "-" is stdin). Only byte 0x0A
/// ends a line; CRs before it are dropped; a CR elsewhere is white space as any other; a UTF-8 BOM
/// at the start of the file is dropped; NUL is content; a last line without 0x0A counts. From a
/// pipe a line is given as soon as its 0x0A has come.
class LineReader {
 public:
  /// Throws DataError when the file cannot be opened.
  explicit LineReader(std::string path);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Next line without its end; false at the end of the file. Throws DataError on a read error, a
  /// damaged archive or a line of more than kLongestLine bytes, naming file and line.
  bool next(std::string& line);
  /// Number of the line that next() gave last, from 1.
  [[nodiscard]] std::int64_t line_number() const;
  /// The path as messages show it: "stdin" for "-".
  [[nodiscard]] const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Applies data.invalid_utf8 to a line read from `path`:`number`: true when the line can be used
/// (perhaps with replaced bytes), false when it must be left out; throws DataError naming file,
/// line and byte ("train.en:2: byte 4 (0xE9) is not valid UTF-8 …") for InvalidUtf8::kError.
bool check_utf8(std::string& line, const std::string& path, std::int64_t number, InvalidUtf8 rule);

/// A corpus' files for messages: "a.de and a.en", or the TSV.
[[nodiscard]] std::string files_of(const CorpusConfig& corpus);

/// Pairs of lines of a corpus (two files, or a TSV with one TAB), with a line of links for each
/// where the corpus has links.
class PairReader {
 public:
  explicit PairReader(const CorpusConfig& corpus);
  ~PairReader();
  /// False at the end. Throws DataError when one file ends before the other (both paths, both
  /// counts, the first line without partner), when a TSV line does not have exactly one TAB, or
  /// when there are more or fewer lines of links than pairs.
  bool next(std::string& source, std::string& target);
  [[nodiscard]] std::int64_t line_number() const;
  /// Where the last pair's source and target stand, for messages: "path:line".
  [[nodiscard]] std::string source_place() const;
  [[nodiscard]] std::string target_place() const;
  /// Links of the pair that next() gave last, from 0; none where the corpus has no links. Throws
  /// DataError (file:line) for what is no link and for an index past the words of the pair.
  [[nodiscard]] std::vector<Link> links(std::string_view source, std::string_view target) const;
  /// verso::check_utf8() on both sides of the pair that next() gave last.
  bool check_utf8(std::string& source, std::string& target, InvalidUtf8 rule) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Text of a whole parallel corpus in memory; for validation sets and commands on given pairs.
/// Pairs that `rule` leaves out are not in it; blank lines are.
struct ParallelText {
  std::vector<std::string> source, target;
  std::vector<std::vector<Link>> links = {};  ///< one for each pair, or none at all
};
/// Throws DataError when there is no line at all.
[[nodiscard]] ParallelText read_parallel_text(const CorpusConfig& corpus, InvalidUtf8 rule);

}  // namespace verso
