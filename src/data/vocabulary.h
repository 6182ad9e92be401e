#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/config.h"

namespace verso {

/// Ids that every vocabulary has, in this order. kPadId is never an input or an output of a model:
/// it fills the places of short sentences in a batch.
inline constexpr std::int32_t kPadId = 0;
inline constexpr std::int32_t kUnknownId = 1;
inline constexpr std::int32_t kBeginId = 2;
inline constexpr std::int32_t kEndId = 3;
inline constexpr std::int32_t kSpecialIds = 4;

/// A line as ids.
struct EncodedLine {
  std::vector<std::int32_t> ids;  ///< [len], without begin or end symbols
  std::vector<std::int32_t>
      word_of;  ///< [len], index of the white-space token that ids[i] is part of
};

/// Text to ids and back. Raw text in, raw text out. Immutable once made, safe to share by threads.
class Vocabulary {
 public:
  virtual ~Vocabulary() = default;

  [[nodiscard]] virtual VocabularyKind kind() const = 0;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// Tokens of `line` (split_tokens' white space). A blank line gives no ids. REQUIRES valid UTF-8.
  [[nodiscard]] virtual EncodedLine encode(std::string_view line) const = 0;
  /// As encode(), but with subword regularisation of strength `alpha` drawn from `random` (see
  /// vocabulary.sampling); word and char vocabularies ignore it.
  [[nodiscard]] virtual EncodedLine encode_sampled(std::string_view line, double alpha,
                                                   Random& random) const = 0;
  /// Ids (special ones are skipped, the unknown one is printed as "<unk>") to one line of text.
  [[nodiscard]] virtual std::string decode(std::span<const std::int32_t> ids) const = 0;
  /// For each id the index of the white-space token of decode(ids) that it became part of; -1 for
  /// pad, begin and end, and for a word mark or separator that no token follows. The counterpart of
  /// EncodedLine::word_of for generated text.
  [[nodiscard]] virtual std::vector<std::int32_t> words_of(
      std::span<const std::int32_t> ids) const = 0;
  /// The entry itself, as shown to people: a word, a character or a piece.
  [[nodiscard]] virtual std::string token(std::int32_t id) const = 0;
  /// Everything needed to make it again with load_vocabulary(): what a checkpoint stores.
  /// word and char: text, one entry a line, nothing escaped (the four special names first; for char
  /// then "<space>", which stands for the white space between tokens).
  /// bpe and unigram: the serialised SentencePiece model.
  [[nodiscard]] virtual std::string bytes() const = 0;
};

/// Makes a vocabulary of `kind` from lines of text. `size` and the rest as in VocabularyConfig.
/// `next_line(line)` gives the training lines one by one and returns false at the end.
/// When the text is too small for `size` pieces, SentencePiece makes as many as it can and a
/// warning is logged; when `size` is too small for the characters of the text, the rarest become
/// unknown, with a warning. Deterministic. Throws DataError when the text holds no token.
[[nodiscard]] std::shared_ptr<const Vocabulary> train_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line);

/// From Vocabulary::bytes(). Throws DataError naming `where` when they are damaged.
[[nodiscard]] std::shared_ptr<const Vocabulary> load_vocabulary(VocabularyKind kind,
                                                                std::string_view bytes,
                                                                const std::string& where);

}  // namespace verso
