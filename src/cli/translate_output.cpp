#include "cli/translate_output.h"

#include "align/links.h"
#include "base/json.h"
#include "base/text.h"

namespace verso {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_tokens(text)) words.emplace_back(word);
  return words;
}

SoftAlignment word_alignment(const Translation& translation, const TranslatedLine& line,
                             const std::string& text) {
  SoftAlignment alignment{words_of(text), words_of(line.text)};
  if (line.alpha.empty()) return alignment;
  return merge_pieces(line.alpha, {std::move(alignment.source), translation.source.word_of}, true,
                      {std::move(alignment.target), line.word_of}, line.finished, line.log_prob);
}

template <class Items, class Show>
std::string json_list(const Items& items, const Show& show) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += show(item);
  }
  return text + ']';
}

std::string json_matrix(const SoftAlignment& alignment) {
  const auto columns = static_cast<std::size_t>(alignment.source_columns());
  std::string text = "[";
  for (std::size_t first = 0; first < alignment.weights.size(); first += columns) {
    if (first > 0) text += ',';
    text += json_list(std::span(alignment.weights).subspan(first, columns),
                      [](float weight) { return fixed(static_cast<double>(weight), 6); });
  }
  return text + ']';
}

std::string json_record(const Translation& translation, const TranslatedLine& line,
                        const std::string& text, const std::string& head,
                        const VocabularyPair& vocabularies, bool with_alignment) {
  const auto yes_no = [](bool value) { return value ? "true" : "false"; };
  std::string record =
      cat("{", head, ",\"text\":", json_quote(line.text), ",\"score\":", json_number(line.score),
          ",\"log_prob\":", json_number(line.log_prob), ",\"finished\":", yes_no(line.finished),
          ",\"truncated\":", yes_no(translation.truncated), ",\"tokens\":",
          json_list(line.ids, [&](auto id) { return json_quote(vocabularies.target->token(id)); }),
          ",\"token_log_probs\":", json_list(line.token_log_probs, [](float value) {
            return fixed(static_cast<double>(value), 6);
          }));
  if (with_alignment) {
    const SoftAlignment alignment = word_alignment(translation, line, text);
    record += cat(
        ",\"alignment\":",
        json_list(extract_links(alignment),
                  [](const Link& link) { return cat("[", link.source, ",", link.target, "]"); }),
        ",\"source\":", json_list(alignment.source, json_quote),
        ",\"target\":", json_list(alignment.target, json_quote),
        ",\"source_end\":", yes_no(alignment.source_end),
        ",\"target_end\":", yes_no(alignment.target_end), ",\"matrix\":", json_matrix(alignment));
  }
  return record + "}\n";
}

}  // namespace

std::string translation_records(const Translation& translation, const std::string& text,
                                std::int64_t id, const VocabularyPair& vocabularies,
                                const OutputForm& form) {
  std::string records;
  for (std::size_t rank = 0; rank < (form.nbest ? translation.nbest.size() : 1); ++rank) {
    const TranslatedLine& line = translation.nbest[rank];
    if (form.json) {
      const std::string head = cat("\"id\":", id, form.nbest ? cat(",\"rank\":", rank) : "");
      records += json_record(translation, line, text, head, vocabularies, form.alignment);
      continue;
    }
    if (form.nbest) records += cat(id, " ||| ");
    records += line.text;
    if (form.nbest) records += cat(" ||| ", fixed(line.score, 6));
    if (form.alignment) {
      records += cat(" ||| ", format_links(extract_links(word_alignment(translation, line, text))));
    }
    records += '\n';
  }
  return records;
}

}  // namespace verso
