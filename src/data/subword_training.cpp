#include <sentencepiece_trainer.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "data/entry_counts.h"
#include "data/list_vocabulary.h"
#include "data/piece_table.h"
#include "data/reserved_characters.h"
#include "data/subword_vocabulary.h"

namespace verso {
namespace {

// Different words kept while counting, so that memory is bounded whatever the size of the text.
constexpr std::int64_t kMostWords = 8'000'000;

// SentencePiece shares its work out by this number, and sums of floats depend on it: it is fixed,
// so that every machine makes the same pieces.
constexpr const char* kTrainingThreads = "4";

using CountedWords = std::vector<std::pair<std::string, std::int64_t>>;

/// The lines "word TAB count" that SentencePiece reads.
class WordIterator final : public sentencepiece::SentenceIterator {
 public:
  explicit WordIterator(const CountedWords& words) : words_(words) { set_line(); }
  [[nodiscard]] bool done() const override { return next_ == words_.size(); }
  void Next() override {
    ++next_;
    set_line();
  }
  [[nodiscard]] const std::string& value() const override { return line_; }
  [[nodiscard]] sentencepiece::util::Status status() const override { return {}; }

 private:
  void set_line() {
    if (!done()) line_ = cat(words_[next_].first, '\t', words_[next_].second);
  }
  const CountedWords& words_;
  std::size_t next_ = 0;
  std::string line_;
};

EntryCounts count_words(const std::function<bool(std::string&)>& next_line) {
  EntryCounts counts;
  std::string line;
  while (next_line(line)) {
    for (const std::string_view token : split_tokens(line)) counts.add(token);
    if (counts.size() > kMostWords) {
      counts.forget_rare(kMostWords / 2);
      log::warning_once("data.many_words", cat("more than ", kMostWords,
                                               " different words: the rarest do not count "
                                               "for the subword vocabulary"));
    }
  }
  return counts;
}

/// The most frequent characters: as many as character_coverage asks for, as far as `room` allows.
std::unordered_set<std::string> choose_characters(const CountedWords& words, double coverage,
                                                  std::int64_t room) {
  EntryCounts counts;
  double all = 0, covered = 0;
  for (const auto& [word, count] : words) {
    for (const std::string_view character : split_characters(word)) {
      if (character == kNeverInPiece) continue;
      counts.add(character, count);
      all += static_cast<double>(count);
    }
  }
  std::unordered_set<std::string> chosen;
  for (const auto& [character, count] : counts.sorted()) {
    if (covered >= coverage * all) break;
    if (static_cast<std::int64_t>(chosen.size()) >= room) {
      log::warning(cat("the training text has ", counts.size(),
                       " different characters, and the "
                       "vocabulary has room for ",
                       room,
                       ": the rarer ones become unknown; raise "
                       "vocabulary.source_size or target_size to keep them"));
      break;
    }
    chosen.insert(character);
    covered += static_cast<double>(count);
  }
  return chosen;
}

/// `word` cut where a character was not chosen, in runs of bounded length. A word with the name of
/// a special id in it counts as its characters only, so that no piece can get that name.
void add_parts(std::string_view word, std::int64_t count,
               const std::unordered_set<std::string>& chosen, EntryCounts& parts) {
  const bool named =
      std::any_of(std::begin(kSpecialNames), std::end(kSpecialNames),
                  [&](std::string_view name) { return word.find(name) != word.npos; });
  std::string part;
  const auto flush = [&] {
    if (!part.empty()) parts.add(part, count);
    part.clear();
  };
  for (const std::string_view run : cut_runs(word)) {
    for (const std::string_view character : split_characters(run)) {
      if (chosen.contains(std::string(character))) {
        part += character;
      } else {
        flush();
      }
      if (named) flush();
    }
    flush();
  }
}

std::string run_trainer(VocabularyKind kind, std::int64_t size, const CountedWords& words) {
  const std::unordered_map<std::string, std::string> options{
      {"model_type", kind == VocabularyKind::kBpe ? "bpe" : "unigram"},
      {"vocab_size", cat(size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", "1.0"},
      {"input_format", "tsv"},
      {"max_sentence_length", "1000000"},
      {"normalization_rule_name", "identity"},
      {"num_threads", kTrainingThreads},
      {"minloglevel", "3"},
      {"pad_id", cat(kPadId)},
      {"unk_id", cat(kUnknownId)},
      {"bos_id", cat(kBeginId)},
      {"eos_id", cat(kEndId)},
      {"pad_piece", std::string(kSpecialNames[kPadId])},
      {"unk_piece", std::string(kSpecialNames[kUnknownId])},
      {"bos_piece", std::string(kSpecialNames[kBeginId])},
      {"eos_piece", std::string(kSpecialNames[kEndId])},
  };
  WordIterator iterator(words);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model);
  if (!status.ok()) {
    throw DataError(cat("SentencePiece cannot make a vocabulary of ", size,
                        " pieces from the training text: ", status.ToString()));
  }
  return model;
}

}  // namespace

std::shared_ptr<const Vocabulary> train_subword_vocabulary(
    const VocabularyConfig& config, std::int64_t size,
    const std::function<bool(std::string&)>& next_line) {
  CountedWords words = count_words(next_line).sorted();
  if (words.empty()) throw DataError("the training text holds no token to make a vocabulary of");
  for (auto& word : words) word.first = hide_reserved(word.first);
  // The special ids and the word mark take room as well.
  const auto characters =
      choose_characters(words, config.character_coverage, size - kSpecialIds - 1);
  EntryCounts parts;
  for (const auto& [word, count] : words) add_parts(word, count, characters, parts);
  if (parts.empty()) throw DataError("the training text holds no character to make pieces of");
  words = {};

  auto vocabulary = load_subword_vocabulary(
      config.kind, run_trainer(config.kind, size, parts.sorted()), "trained vocabulary");
  if (vocabulary->size() < size) {
    log::warning(cat("the training text gives ", vocabulary->size(), " ", enum_name(config.kind),
                     " pieces, ", size, " were asked for"));
  }
  return vocabulary;
}

}  // namespace verso
