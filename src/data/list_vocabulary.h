#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/entry_counts.h"
#include "data/vocabulary.h"

namespace verso {

/// Names of the four special ids, in the order of the ids. They contain more than one character and
/// no white space; a token of a text that is spelled like one is an unknown token.
inline constexpr std::string_view kSpecialNames[kSpecialIds] = {"<pad>", "<unk>", "<s>", "</s>"};

/// What word and char vocabularies share: a list of entries, line number = id.
class ListVocabulary : public Vocabulary {
 public:
  [[nodiscard]] std::int64_t size() const override;
  [[nodiscard]] EncodedLine encode_sampled(std::string_view line, double alpha,
                                           Random& random) const override;
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids) const override;
  [[nodiscard]] std::vector<std::int32_t> words_of(
      std::span<const std::int32_t> ids) const override;
  [[nodiscard]] std::string token(std::int32_t id) const override;
  [[nodiscard]] std::string bytes() const override;

 protected:
  /// `entries` without the special names.
  explicit ListVocabulary(std::vector<std::string> entries);
  /// kUnknownId when `entry` is not in the list.
  [[nodiscard]] std::int32_t id_of(std::string_view entry) const;
  /// Text of an id for join_text: what stands for white space is white space.
  [[nodiscard]] virtual std::string_view text_of(std::int32_t id) const = 0;
  [[nodiscard]] const std::string& entry(std::int32_t id) const;

 private:
  std::vector<std::string> entries_;
  std::unordered_map<std::string_view, std::int32_t> ids_;  // views into entries_
};

/// White-space tokens as entries.
class WordVocabulary final : public ListVocabulary {
 public:
  explicit WordVocabulary(std::vector<std::string> entries);
  [[nodiscard]] VocabularyKind kind() const override { return VocabularyKind::kWord; }
  [[nodiscard]] EncodedLine encode(std::string_view line) const override;

 protected:
  [[nodiscard]] std::string_view text_of(std::int32_t id) const override;

 private:
  std::vector<std::string> texts_;  // each entry with a space before it
};

/// Characters as entries; the first entry stands for the white space between tokens. Its name has
/// more than one character, so no character of a text can be taken for it. It belongs to the token
/// that it begins.
class CharVocabulary final : public ListVocabulary {
 public:
  static constexpr std::string_view kSeparatorName = "<space>";
  static constexpr std::int32_t kSeparatorId = kSpecialIds;

  /// `entries` with kSeparatorName first.
  explicit CharVocabulary(std::vector<std::string> entries);
  [[nodiscard]] VocabularyKind kind() const override { return VocabularyKind::kChar; }
  [[nodiscard]] EncodedLine encode(std::string_view line) const override;

 protected:
  [[nodiscard]] std::string_view text_of(std::int32_t id) const override;
};

/// The parts of train_vocabulary() and load_vocabulary() for these kinds.
[[nodiscard]] std::shared_ptr<const Vocabulary> train_list_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line);
[[nodiscard]] std::shared_ptr<const Vocabulary> load_list_vocabulary(VocabularyKind kind,
                                                                     std::string_view bytes,
                                                                     const std::string& where);

}  // namespace verso
