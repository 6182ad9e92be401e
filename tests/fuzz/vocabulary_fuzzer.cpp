// Vocabularies of a checkpoint: an error, or one that gives the same bytes back and knows its ids.
// SentencePiece models are read by SentencePiece, which is not built with sanitizers here.
#include "base/error.h"
#include "data/vocabulary.h"
#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  const std::string_view bytes = fuzz::text_of(data, size);
  for (const VocabularyKind kind : {VocabularyKind::kWord, VocabularyKind::kChar}) {
    try {
      const auto vocabulary = load_vocabulary(kind, bytes, "checkpoint");
      const std::string written = vocabulary->bytes();
      fuzz::check(load_vocabulary(kind, written, "written")->bytes() == written);
      const std::string text = replace_invalid_utf8(bytes.substr(0, 200));
      for (const std::int32_t id : vocabulary->encode(text).ids) {
        fuzz::check(id >= 0 && id < vocabulary->size());
      }
    } catch (const DataError&) {
    }
  }
  return 0;
}
