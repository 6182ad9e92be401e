#include "search/translator.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "search/forced.h"

namespace verso {

namespace {

constexpr std::int64_t kUsualMaxInput = 500;

TranslatedLine blank_line() { return {}; }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += text.empty() ? word : " " + word;
  return text;
}

}  // namespace

/// A line on its way. The raw text stays with its ids through sorting and batching.
struct Translator::Line {
  std::string_view text, prefix;
  std::int64_t number = 0;
  EncodedLine source;
  std::vector<std::int32_t> prefix_ids;
  bool truncated = false;
};

Translator::Translator(const std::vector<const TranslationModel*>& models, TranslateOptions options,
                       const std::vector<std::string>& names)
    : models_(models),
      networks_(ensemble_networks(models, names)),
      vocabularies_(models[0]->vocabularies),
      options_(std::move(options)),
      max_input_(options_.max_input > 0
                     ? options_.max_input
                     : std::max(kUsualMaxInput, models[0]->config.data.max_len)) {
  options_.search.attention = options_.attention || options_.replace_unknown;
  check_search_options(options_.search);
}

Translator::Line Translator::encode(const std::string& text, const std::string& prefix,
                                    std::int64_t number) const {
  Line line{text, prefix, number, vocabularies_.source->encode(text), {}, false};
  const auto tokens = static_cast<std::int64_t>(line.source.ids.size());
  if (tokens > max_input_) {
    log::warning(cat("line ", number, ": ", tokens, " tokens; only the first ", max_input_,
                     " are translated"));
    line.source.ids.resize(static_cast<std::size_t>(max_input_));
    line.source.word_of.resize(static_cast<std::size_t>(max_input_));
    line.truncated = true;
  }
  if (!prefix.empty()) line.prefix_ids = vocabularies_.target->encode(prefix).ids;
  return line;
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines,
                                               std::int64_t first_line,
                                               const std::vector<std::string>& prefixes) const {
  std::vector<Line> encoded;
  std::vector<std::size_t> wanted;
  std::vector<std::int64_t> lengths;
  const std::string none;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    encoded.push_back(encode(lines[i], i < prefixes.size() ? prefixes[i] : none,
                             first_line + static_cast<std::int64_t>(i)));
    lengths.push_back(static_cast<std::int64_t>(encoded[i].source.ids.size()) + 1);
    if (!encoded[i].source.ids.empty()) wanted.push_back(i);
  }
  std::vector<Translation> translations(lines.size());
  const std::int64_t budget = options_.batch_tokens / options_.search.beam;
  for (const std::vector<std::size_t>& batch : batches_by_length(wanted, lengths, budget)) {
    std::vector<SearchInput> inputs;
    for (const std::size_t i : batch) {
      inputs.push_back({encoded[i].source.ids, encoded[i].prefix_ids,
                        static_cast<std::uint64_t>(encoded[i].number)});
    }
    auto found = beam_search(networks_, inputs, options_.search);
    for (std::size_t k = 0; k < batch.size(); ++k) {
      for (Hypothesis& hypothesis : found[k]) {
        translations[batch[k]].nbest.push_back(decode(encoded[batch[k]], std::move(hypothesis)));
      }
    }
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    translations[i].source = std::move(encoded[i].source);
    translations[i].truncated = encoded[i].truncated;
    if (translations[i].nbest.empty()) translations[i].nbest.push_back(blank_line());
  }
  if (options_.attention && options_.shift > 0) shift_attention(translations);
  return translations;
}

/// Later steps than those of the search are those of reading its translations.
void Translator::shift_attention(std::vector<Translation>& translations) const {
  std::vector<EncodedPair> pairs;
  std::vector<TranslatedLine*> lines;
  for (Translation& translation : translations) {
    for (TranslatedLine& line : translation.nbest) {
      if (line.alpha.empty()) continue;
      pairs.push_back({translation.source, {line.ids, line.word_of}});
      lines.push_back(&line);
    }
  }
  ForcedOptions options;
  options.shift = options_.shift;
  const std::vector<ForcedPair> forced = forced_decode(models_, std::move(pairs), options);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t rows = lines[i]->alpha.size();  // a translation that was cut has no end's row
    if (forced[i].alpha.empty()) continue;            // the end symbol alone
    lines[i]->alpha.assign(forced[i].alpha.begin(),
                           forced[i].alpha.begin() + static_cast<std::ptrdiff_t>(rows));
  }
}

TranslatedLine Translator::decode(const Line& line, Hypothesis&& hypothesis) const {
  TranslatedLine translated;
  translated.score = hypothesis.score;
  translated.log_prob = hypothesis.log_prob;
  translated.finished = hypothesis.finished;
  translated.ids = std::move(hypothesis.ids);
  translated.word_of = vocabularies_.target->words_of(translated.ids);
  translated.token_log_probs = std::move(hypothesis.token_log_probs);
  translated.alpha = std::move(hypothesis.alpha);
  translated.text = replaced(line, translated);
  if (!options_.attention) translated.alpha = {};
  return translated;
}

/// The text, with words that hold an unknown token replaced: those of the prefix by what was given,
/// the others on request through attention.
std::string Translator::replaced(const Line& line, const TranslatedLine& translated) const {
  const std::vector<std::int32_t>& ids = translated.ids;
  std::string text = vocabularies_.target->decode(ids);
  if (std::find(ids.begin(), ids.end(), kUnknownId) == ids.end()) return text;
  const std::vector<std::string_view> source_words = split_tokens(line.text);
  const std::vector<std::string_view> prefix_words = split_tokens(line.prefix);
  std::vector<std::string> words;
  for (const std::string_view word : split_tokens(text)) words.emplace_back(word);
  const auto row_len = static_cast<std::ptrdiff_t>(line.source.ids.size()) + 1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != kUnknownId || translated.word_of[i] < 0) continue;
    const auto word = static_cast<std::size_t>(translated.word_of[i]);
    if (i < line.prefix_ids.size() && word < prefix_words.size()) {
      words[word] = prefix_words[word];
    } else if (options_.replace_unknown) {
      const auto row = translated.alpha.begin() + static_cast<std::ptrdiff_t>(i) * row_len;
      const auto best = std::max_element(row, row + row_len - 1) - row;
      const auto source_word = line.source.word_of[static_cast<std::size_t>(best)];
      words[word] = source_words[static_cast<std::size_t>(source_word)];
      const auto entry = options_.dictionary.find(words[word]);
      if (entry != options_.dictionary.end()) words[word] = entry->second;
    }
  }
  return joined(words);
}

}  // namespace verso
