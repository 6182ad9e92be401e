// Lines of plain and packed files: none lost, none invented, no line end inside one.
#include <algorithm>

#include "base/error.h"
#include "data/corpus.h"
#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  static fuzz::MemoryFile file;
  const std::string_view bytes = fuzz::text_of(data, size);
  const bool skippable =
      size >= 4 && (data[0] & 0xF0) == 0x50 && bytes.substr(1, 3) == "\x2A\x4D\x18";
  const bool packed =
      bytes.starts_with("\x1F\x8B") || bytes.starts_with("\x28\xB5\x2F\xFD") || skippable;
  std::int64_t lines = 0;
  try {
    LineReader reader(file.with(bytes));
    std::string line;
    while (reader.next(line)) {
      ++lines;
      fuzz::check(reader.line_number() == lines);
      fuzz::check(line.find('\n') == line.npos);
      std::string replaced = line;
      fuzz::check(check_utf8(replaced, "f", lines, InvalidUtf8::kReplace));
      fuzz::check(!find_invalid_utf8(replaced));
      fuzz::check(find_invalid_utf8(line) || replaced == line);
      if (lines > 100'000) return 0;  // a small archive of a long text
    }
  } catch (const DataError&) {
    fuzz::check(packed || size > kLongestLine);
    return 0;
  }
  const std::string_view text = bytes.starts_with("\xEF\xBB\xBF") ? bytes.substr(3) : bytes;
  const auto ends = std::count(text.begin(), text.end(), '\n');
  fuzz::check(packed || lines == ends + (text.empty() || text.ends_with('\n') ? 0 : 1));
  return 0;
}
