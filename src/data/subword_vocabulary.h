#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "data/vocabulary.h"

namespace verso {

/// The parts of train_vocabulary() and load_vocabulary() for bpe and unigram.
///
/// Each white-space token is cut by itself, so no piece crosses tokens and the token of a piece is
/// known. No normalisation. Four characters are exchanged for non-characters of Unicode before
/// SentencePiece sees them, because it keeps them for itself, and back in decode():
///   U+2581 (its word mark) <-> U+FDD0, U+2585 <-> U+FDD1, NUL <-> U+FDD2.
/// Those non-characters (U+FDD0 to U+FDD3) in a text are unknown.
[[nodiscard]] std::shared_ptr<const Vocabulary> train_subword_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line);
[[nodiscard]] std::shared_ptr<const Vocabulary> load_subword_vocabulary(VocabularyKind kind,
                                                                        std::string_view bytes,
                                                                        const std::string& where);

}  // namespace verso
