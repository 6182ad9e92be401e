#include "data/subword_vocabulary.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/entry_counts.h"
#include "data/joined_text.h"
#include "data/piece_table.h"
#include "data/reserved_characters.h"

namespace verso {
namespace {

constexpr std::size_t kLongestCachedWord = 64;
constexpr std::size_t kCachedWords = 1 << 17;

class SubwordVocabulary final : public Vocabulary {
 public:
  SubwordVocabulary(VocabularyKind kind, std::string_view bytes, const std::string& where)
      : kind_(kind), bytes_(bytes), table_(bytes, where) {
    const std::int64_t expected = kind == VocabularyKind::kBpe ? 2 : 1;
    if (table_.model_type() != expected) {
      throw DataError(cat(where, ": SentencePiece model of type ", table_.model_type(),
                          ", expected ", expected, " (", enum_name(kind), ")"));
    }
    for (std::int32_t id = 0; id < table_.size(); ++id) {
      texts_.push_back(id >= kSpecialIds ? show_reserved(table_.piece(id))
                                         : (id == kUnknownId ? table_.piece(id) : ""));
    }
  }

  [[nodiscard]] VocabularyKind kind() const override { return kind_; }
  [[nodiscard]] std::int64_t size() const override { return table_.size(); }

  [[nodiscard]] EncodedLine encode(std::string_view line) const override {
    return encode_words(line, [this](std::string_view word, std::vector<std::int32_t>& ids) {
      if (word.size() > kLongestCachedWord) return segment(word, 0, nullptr, ids);
      const std::lock_guard lock(mutex_);
      auto found = cache_.find(word);
      if (found == cache_.end()) {
        if (cache_.size() >= kCachedWords) return segment(word, 0, nullptr, ids);
        found = cache_.emplace(word, std::vector<std::int32_t>{}).first;
        segment(word, 0, nullptr, found->second);
      }
      ids.insert(ids.end(), found->second.begin(), found->second.end());
    });
  }

  [[nodiscard]] EncodedLine encode_sampled(std::string_view line, double alpha,
                                           Random& random) const override {
    if (alpha <= 0) return encode(line);
    return encode_words(line, [&](std::string_view word, std::vector<std::int32_t>& ids) {
      segment(word, alpha, &random, ids);
    });
  }

  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override {
    return join(ids).text;
  }
  [[nodiscard]] std::vector<std::int32_t> words_of(
      std::span<const std::int32_t> ids) const override {
    return join(ids).word_of;
  }
  [[nodiscard]] std::string token(std::int32_t id) const override {
    check_id(id, size());
    return table_.piece(id);
  }
  [[nodiscard]] std::string bytes() const override { return bytes_; }

 private:
  template <class Segment>
  [[nodiscard]] static EncodedLine encode_words(std::string_view line, const Segment& segment) {
    EncodedLine encoded;
    std::int32_t index = 0;
    for (const std::string_view token : split_tokens(line)) {
      segment(token, encoded.ids);
      encoded.word_of.resize(encoded.ids.size(), index++);
    }
    return encoded;
  }

  /// Appends the ids of one token, a run of unknown characters as one id.
  void segment(std::string_view token, double alpha, Random* random,
               std::vector<std::int32_t>& ids) const {
    const std::size_t first = ids.size();
    const std::string marked = cat(kWordMark, hide_reserved(token));
    for (const std::string_view run : cut_runs(marked)) {
      if (kind_ == VocabularyKind::kBpe) {
        table_.segment_bpe(run, alpha, random, ids);
      } else {
        table_.segment_unigram(run, alpha, random, ids);
      }
    }
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(first);
    ids.erase(std::unique(begin, ids.end(),
                          [](std::int32_t a, std::int32_t b) {
                            return a == kUnknownId && b == kUnknownId;
                          }),
              ids.end());
  }

  [[nodiscard]] JoinedText join(std::span<const std::int32_t> ids) const {
    return join_text(ids, [this](std::int32_t id) -> std::string_view {
      check_id(id, size());
      return texts_[static_cast<std::size_t>(id)];
    });
  }

  VocabularyKind kind_;
  std::string bytes_;
  PieceTable table_;
  std::vector<std::string> texts_;  // of each id, as join_text wants it
  mutable std::mutex mutex_;
  mutable TextMap<std::vector<std::int32_t>> cache_;
};

}  // namespace

std::shared_ptr<const Vocabulary> load_subword_vocabulary(VocabularyKind kind,
                                                          std::string_view bytes,
                                                          const std::string& where) {
  return std::make_shared<SubwordVocabulary>(kind, bytes, where);
}

}  // namespace verso
