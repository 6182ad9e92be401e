#include "data/vocabulary.h"

#include "data/list_vocabulary.h"
#include "data/subword_vocabulary.h"

namespace verso {
namespace {

bool is_subword(VocabularyKind kind) {
  return kind == VocabularyKind::kBpe || kind == VocabularyKind::kUnigram;
}

}  // namespace

std::shared_ptr<const Vocabulary> train_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line) {
  return is_subword(config.kind) ? train_subword_vocabulary(config, size, next_line)
                                 : train_list_vocabulary(config, size, next_line);
}

std::shared_ptr<const Vocabulary> load_vocabulary(VocabularyKind kind, std::string_view bytes,
                                                  const std::string& where) {
  return is_subword(kind) ? load_subword_vocabulary(kind, bytes, where)
                          : load_list_vocabulary(kind, bytes, where);
}

}  // namespace verso
