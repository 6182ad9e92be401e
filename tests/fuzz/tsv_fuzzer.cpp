// Pairs of a TSV, or of two files (the input cut at its first 0xFE): as many as there are lines.
#include <algorithm>

#include "base/error.h"
#include "data/corpus.h"
#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  static fuzz::MemoryFile first, second;
  const std::string_view bytes = fuzz::text_of(data, size);
  const std::size_t cut = bytes.find('\xFE');
  CorpusConfig corpus;
  if (cut == bytes.npos) {
    corpus.tsv = first.with(bytes);
  } else {
    corpus.source = first.with(bytes.substr(0, cut));
    corpus.target = second.with(bytes.substr(cut + 1));
  }
  for (const InvalidUtf8 rule : {InvalidUtf8::kError, InvalidUtf8::kReplace, InvalidUtf8::kSkip}) {
    try {
      const ParallelText text = read_parallel_text(corpus, rule);
      fuzz::check(text.source.size() == text.target.size());
      for (const auto& side : {text.source, text.target}) {
        for (const std::string& line : side) {
          fuzz::check(line.find('\n') == line.npos && !find_invalid_utf8(line));
          fuzz::check(corpus.tsv.empty() || line.find('\t') == line.npos);
        }
      }
    } catch (const DataError&) {
    }
  }
  return 0;
}
