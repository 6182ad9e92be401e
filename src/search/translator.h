#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "search/beam_search.h"
#include "search/ensemble.h"

namespace verso {

/// How lines of text are translated.
struct TranslateOptions {
  SearchOptions search;
  /// Source tokens times beam in one batch, padding included. Changes speed and memory only.
  std::int64_t batch_tokens = 4000;
  /// A longer line is translated as far as its first max_input source tokens; 0 = 500, or what the
  /// first model's data.max_len allows when that is more.
  std::int64_t max_input = 0;
  /// A target word that holds an unknown token becomes, as a whole, the white-space token of the
  /// source that this token attends to most (the end symbol set aside), or what `dictionary` has
  /// for it. Entries of the dictionary hold no white space.
  bool replace_unknown = false;
  std::unordered_map<std::string, std::string> dictionary;
  bool attention = false;  ///< fill TranslatedLine::alpha
  std::int64_t shift = 0;  ///< of TranslatedLine::alpha, as in ForcedOptions
};

/// One translation of a line.
struct TranslatedLine {
  std::string text;
  double score = 0, log_prob = 0;      ///< see SearchOptions
  bool finished = true;                ///< false: cut at the length limit
  std::vector<std::int32_t> ids;       ///< target tokens
  std::vector<std::int32_t> word_of;   ///< [ids] white-space token of `text` that each is part of
  std::vector<float> token_log_probs;  ///< [ids, and the end symbol if finished]
  std::vector<float> alpha;            ///< [as token_log_probs][source tokens + end], row-major
};

/// What became of an input line.
struct Translation {
  EncodedLine source;  ///< tokens that were translated
  bool truncated = false;
  std::vector<TranslatedLine>
      nbest;  ///< best first; at least one. A blank line has one empty record.
};

/// Raw lines in, raw lines out; the same for the translate command and for validation in training.
class Translator {
 public:
  /// REQUIRES models that outlive the object, in evaluation mode while it translates. Throws
  /// UsageError for options out of range and for models whose vocabularies differ (named by `names`
  /// where given).
  Translator(const std::vector<const TranslationModel*>& models, TranslateOptions options,
             const std::vector<std::string>& names = {});

  /// One translation for each line, in order, in batches of similar length. A blank line is not
  /// given to the model. `first_line` is the number of lines[0] in warnings and for sampling.
  /// prefixes: none, or for each line the words that its translation must start with.
  /// REQUIRES valid UTF-8.
  [[nodiscard]] std::vector<Translation> translate(
      const std::vector<std::string>& lines, std::int64_t first_line = 1,
      const std::vector<std::string>& prefixes = {}) const;

  [[nodiscard]] const VocabularyPair& vocabularies() const { return vocabularies_; }
  [[nodiscard]] const TranslateOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t max_input() const { return max_input_; }

 private:
  struct Line;
  void shift_attention(std::vector<Translation>& translations) const;
  [[nodiscard]] Line encode(const std::string& text, const std::string& prefix,
                            std::int64_t number) const;
  [[nodiscard]] TranslatedLine decode(const Line& line, Hypothesis&& hypothesis) const;
  [[nodiscard]] std::string replaced(const Line& line, const TranslatedLine& translated) const;

  std::vector<const TranslationModel*> models_;
  std::vector<Seq2Seq> networks_;
  VocabularyPair vocabularies_;
  TranslateOptions options_;
  std::int64_t max_input_;
};

}  // namespace verso
