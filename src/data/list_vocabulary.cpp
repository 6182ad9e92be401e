#include "data/list_vocabulary.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/joined_text.h"

namespace verso {
namespace {

bool is_special_name(std::string_view text) {
  return std::find(std::begin(kSpecialNames), std::end(kSpecialNames), text) !=
         std::end(kSpecialNames);
}

// What is wrong with a line of a stored vocabulary, or nothing.
std::string find_fault(std::string_view entry, VocabularyKind kind, std::int64_t id) {
  if (entry.empty()) return "is empty";
  if (find_invalid_utf8(entry)) return "is not valid UTF-8";
  if (id < kSpecialIds) {
    return entry == kSpecialNames[id]
               ? ""
               : cat("is \"", entry, "\", expected \"", kSpecialNames[id], "\"");
  }
  if (is_special_name(entry)) return cat("is \"", entry, "\", which stands for a special id");
  if (std::any_of(entry.begin(), entry.end(), is_ascii_space)) return "holds white space";
  if (kind != VocabularyKind::kChar) return "";
  if (id == CharVocabulary::kSeparatorId) {
    return entry == CharVocabulary::kSeparatorName
               ? ""
               : cat("is \"", entry, "\", expected \"", CharVocabulary::kSeparatorName, "\"");
  }
  return split_characters(entry).size() == 1 ? "" : cat("is \"", entry, "\", expected a character");
}

std::shared_ptr<const Vocabulary> make(VocabularyKind kind, std::vector<std::string> entries) {
  if (kind == VocabularyKind::kChar) return std::make_shared<CharVocabulary>(std::move(entries));
  return std::make_shared<WordVocabulary>(std::move(entries));
}

}  // namespace

ListVocabulary::ListVocabulary(std::vector<std::string> entries) {
  entries_.reserve(entries.size() + kSpecialIds);
  entries_.assign(std::begin(kSpecialNames), std::end(kSpecialNames));
  std::move(entries.begin(), entries.end(), std::back_inserter(entries_));
  ids_.reserve(entries_.size());
  for (std::size_t id = kSpecialIds; id < entries_.size(); ++id) {
    ids_.emplace(entries_[id], static_cast<std::int32_t>(id));
  }
}

std::int64_t ListVocabulary::size() const { return static_cast<std::int64_t>(entries_.size()); }

EncodedLine ListVocabulary::encode_sampled(std::string_view line, double, Random&) const {
  return encode(line);
}

std::string ListVocabulary::decode(std::span<const std::int32_t> ids) const {
  return join_text(ids, [this](std::int32_t id) { return text_of(id); }).text;
}

std::vector<std::int32_t> ListVocabulary::words_of(std::span<const std::int32_t> ids) const {
  return join_text(ids, [this](std::int32_t id) { return text_of(id); }).word_of;
}

std::string ListVocabulary::token(std::int32_t id) const { return entry(id); }

std::string ListVocabulary::bytes() const {
  std::string text;
  for (const std::string& entry : entries_) text += entry + '\n';
  return text;
}

std::int32_t ListVocabulary::id_of(std::string_view entry) const {
  const auto found = ids_.find(entry);
  return found == ids_.end() ? kUnknownId : found->second;
}

const std::string& ListVocabulary::entry(std::int32_t id) const {
  check_id(id, size());
  return entries_[static_cast<std::size_t>(id)];
}

WordVocabulary::WordVocabulary(std::vector<std::string> entries)
    : ListVocabulary(std::move(entries)) {
  texts_.reserve(static_cast<std::size_t>(size()));
  for (std::int32_t id = 0; id < size(); ++id) {
    const bool shown = id == kUnknownId || id >= kSpecialIds;
    texts_.push_back(shown ? " " + entry(id) : "");
  }
}

EncodedLine WordVocabulary::encode(std::string_view line) const {
  EncodedLine encoded;
  for (const std::string_view token : split_tokens(line)) {
    encoded.word_of.push_back(static_cast<std::int32_t>(encoded.ids.size()));
    encoded.ids.push_back(id_of(token));
  }
  return encoded;
}

std::string_view WordVocabulary::text_of(std::int32_t id) const {
  check_id(id, size());
  return texts_[static_cast<std::size_t>(id)];
}

CharVocabulary::CharVocabulary(std::vector<std::string> entries)
    : ListVocabulary(std::move(entries)) {}

EncodedLine CharVocabulary::encode(std::string_view line) const {
  EncodedLine encoded;
  std::int32_t word = 0;
  const auto add = [&](std::int32_t id) {
    encoded.ids.push_back(id);
    encoded.word_of.push_back(word);
  };
  for (const std::string_view token : split_tokens(line)) {
    if (word > 0) add(kSeparatorId);
    for (const std::string_view character : split_characters(token)) add(id_of(character));
    ++word;
  }
  return encoded;
}

std::string_view CharVocabulary::text_of(std::int32_t id) const {
  if (id == kSeparatorId) return " ";
  if (id != kUnknownId && id >= 0 && id < kSpecialIds) return "";
  return entry(id);
}

std::shared_ptr<const Vocabulary> train_list_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line) {
  const bool characters = config.kind == VocabularyKind::kChar;
  EntryCounts counts;
  std::string line;
  while (next_line(line)) {
    for (const std::string_view token : split_tokens(line)) {
      if (!characters) {
        counts.add(token);
        continue;
      }
      for (const std::string_view character : split_characters(token)) counts.add(character);
    }
  }
  if (counts.empty()) throw DataError("the training text holds no token to make a vocabulary of");

  std::vector<std::string> entries;
  if (characters) entries.emplace_back(CharVocabulary::kSeparatorName);
  const std::size_t separators = entries.size();
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(size - kSpecialIds, 0));
  for (auto& [entry, count] : counts.sorted()) {
    if (entries.size() >= most || count < config.min_frequency) break;
    if (!is_special_name(entry)) entries.push_back(std::move(entry));
  }
  if (entries.size() == separators) {
    throw DataError(cat("none of the ", counts.size(), " different ",
                        characters ? "characters" : "tokens",
                        " of the training text can be an entry of the vocabulary; lower "
                        "vocabulary.min_frequency (",
                        config.min_frequency, ") or raise its size (", size, ")"));
  }
  return make(config.kind, std::move(entries));
}

std::shared_ptr<const Vocabulary> load_list_vocabulary(VocabularyKind kind, std::string_view bytes,
                                                       const std::string& where) {
  std::vector<std::string> entries;
  std::unordered_set<std::string_view> seen;
  std::int64_t id = 0;
  for (; !bytes.empty(); ++id) {
    const std::size_t end = bytes.find('\n');
    const std::string_view entry = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    std::string fault = find_fault(entry, kind, id);
    if (fault.empty() && !seen.insert(entry).second) fault = cat("\"", entry, "\" is there twice");
    if (!fault.empty()) throw DataError(cat(where, ": vocabulary line ", id + 1, " ", fault));
    if (id >= kSpecialIds) entries.emplace_back(entry);
  }
  const std::int64_t least = kind == VocabularyKind::kChar ? kSpecialIds + 1 : kSpecialIds;
  if (id < least) {
    throw DataError(cat(where, ": vocabulary of ", id, " lines, expected at least ", least));
  }
  return make(kind, std::move(entries));
}

}  // namespace verso
