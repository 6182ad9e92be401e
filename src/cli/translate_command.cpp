#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/model_options.h"
#include "cli/standard_streams.h"
#include "cli/stdin_lines.h"
#include "cli/translate_output.h"
#include "data/corpus.h"
#include "search/forced.h"

namespace verso {
namespace {

// Lines that are sorted by length together; enough for full batches, little enough that memory and
// the wait for the first output stay small.
constexpr std::size_t kWindowLines = 2000;
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;

struct Options {
  ModelOptions model;
  TranslateOptions translate;
  OutputForm form;
  std::string dictionary;
  bool prefix = false;
  std::optional<std::int64_t> shift;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kError;
};

/// "source target" a line.
std::unordered_map<std::string, std::string> read_dictionary(const std::string& path) {
  std::unordered_map<std::string, std::string> entries;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    check_utf8(line, reader.path(), reader.line_number(), InvalidUtf8::kError);
    const std::vector<std::string_view> words = split_tokens(line);
    if (words.empty()) continue;
    if (words.size() != 2) {
      throw DataError(cat(reader.path(), ":", reader.line_number(), ": ", words.size(),
                          " words, expected a source word and a target word"));
    }
    entries.emplace(words[0], words[1]);
  }
  return entries;
}

/// Counts for the warning at the end.
struct Counts {
  std::int64_t lines = 0, cut = 0;
};

/// Translates lines numbered from `first`, prints and flushes.
void answer(const Translator& translator, const Options& options, std::vector<std::string> lines,
            std::int64_t first, Counts& counts) {
  std::vector<std::string> prefixes;
  for (std::string& line : lines) {
    if (!options.prefix) break;
    const std::size_t tab = line.find('\t');
    prefixes.push_back(tab == std::string::npos ? "" : line.substr(tab + 1));
    line.resize(std::min(tab, line.size()));
  }
  const std::vector<Translation> translations = translator.translate(lines, first, prefixes);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    write_out(translation_records(translations[i], lines[i],
                                  first - 1 + static_cast<std::int64_t>(i),
                                  translator.vocabularies(), options.form));
    counts.cut += !translations[i].nbest[0].finished;
  }
  counts.lines += static_cast<std::int64_t>(lines.size());
  flush_out();
}

/// Reads, answers, until the input ends. Lines before a bad one are answered before its error.
Counts filter(const Translator& translator, const Options& options) {
  Counts counts;
  StdinLines input;
  for (;;) {
    const std::int64_t first = input.next_number();
    std::vector<std::string> lines = input.take(kWindowLines, kWindowBytes);
    if (lines.empty()) return counts;
    std::exception_ptr problem;
    for (std::size_t i = 0; i < lines.size() && !problem; ++i) {
      try {
        check_utf8(lines[i], "stdin", first + static_cast<std::int64_t>(i), options.invalid_utf8);
      } catch (const DataError&) {
        problem = std::current_exception();
        lines.resize(i);
      }
    }
    answer(translator, options, std::move(lines), first, counts);
    if (problem) std::rethrow_exception(problem);
  }
}

int run_translate(Options& options) {
  TranslateOptions& translate = options.translate;
  if (translate.search.sample) translate.search.beam = translate.search.nbest;
  translate.attention = options.form.alignment;
  check_search_options(translate.search);
  if (!options.dictionary.empty()) translate.dictionary = read_dictionary(options.dictionary);
  const LoadedModels loaded = load_models(options.model);
  translate.shift = options.shift.value_or(usual_shift(*loaded.models().at(0)));
  const Translator translator(loaded.models(), translate, options.model.paths);
  const Counts counts = filter(translator, options);
  if (counts.cut > 0) {
    log::warning(cat(counts.cut, " of ", counts.lines,
                     " translations were cut at the length limit (--max-length-factor, "
                     "--max-length-extra)"));
  }
  return 0;
}

constexpr const char* kFooter =
    R"(Input: one sentence a line on standard input, UTF-8, raw text or what the model was trained on.
Output: one line for each, in order, a blank one for a blank one. Lines that wait are translated
together; when no more are waiting the answer is written at once, so a program may write a line and
read its translation before it writes the next.

Score: sum log p / length^P + C * sum_j log(min(sum_t alpha_tj, 1))
  natural logarithm; length counts the tokens with the end symbol (a translation cut at the limit has
  none); P is --length-penalty (0: the sum itself), C is --coverage-penalty; alpha_tj is the attention
  of target token t to source token j. The same for finished and cut translations.

Records:
  plain                  TEXT
  --nbest N              ID ||| TEXT ||| SCORE     N lines for an input line, best first; ID from 0
  --alignment            ... ||| 0-0 1-2           source-target words (white-space tokens, from 0),
                                                   for each target word the source word it attends to
                                                   most, end symbols set aside
  --json                 one object a line: id, rank (with --nbest), text, score, log_prob, finished
                         (false: cut at the limit), truncated (the input was over --max-input),
                         tokens, token_log_probs (with the end symbol's); with --alignment also
                         alignment [[source, target], ...], source and target words, matrix [target]
                         [source] of word attention; source_end and target_end say whether its last
                         column and row are the end symbol's

Several models are an ensemble: the mean of their probabilities; their vocabularies must be equal.)";

void add_search_options(CLI::App& command, Options& options) {
  SearchOptions& search = options.translate.search;
  auto* beam = command.add_option("-b,--beam", search.beam, "hypotheses kept; 1 = greedy");
  auto* nbest = command.add_option("-n,--nbest", search.nbest,
                                   "translations printed for a line, at most the beam");
  nbest->each([&options](const std::string&) { options.form.nbest = true; });
  command.add_option("--length-penalty", search.length_penalty, "P of the score below");
  command.add_option("--coverage-penalty", search.coverage_penalty, "C of the score below");
  command.add_option("--max-length-factor", search.max_length_factor,
                     "a translation has at most factor * source tokens + extra tokens");
  command.add_option("--max-length-extra", search.max_length_extra, "see --max-length-factor");
  command.add_option("--no-repeat-ngram", search.no_repeat_ngram,
                     "no sequence of so many tokens twice in a translation; 0 = off");
  auto* sample = command
                     .add_flag("--sample", search.sample,
                               "draw translations instead of searching; --nbest of them")
                     ->excludes(beam);
  command.add_option("--temperature", search.temperature, "draw from p^(1/temperature)")
      ->needs(sample);
  command.add_option("--top-k", search.top_k, "draw among the k most probable tokens; 0 = all")
      ->needs(sample);
  command.add_option("--seed", search.seed, "of the draws; a line's depend on it and the number")
      ->needs(sample);
}

}  // namespace

void setup_translate(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  TranslateOptions& translate = options->translate;
  add_model_options(command, options->model);
  command.option_defaults()->always_capture_default();
  add_search_options(command, *options);
  auto* alignment =
      command.add_flag("--alignment", options->form.alignment, "print which words belong together");
  command
      .add_option("--shift", options->shift,
                  "steps later from which a word's alignment is read, see verso align --help; the "
                  "model's own unless given")
      ->check(CLI::Range(0, 2))
      ->needs(alignment);
  command.add_flag("--json", options->form.json, "JSON Lines instead of plain text");
  command.add_flag("--prefix", options->prefix,
                   "input lines are SOURCE<TAB>BEGINNING: whole words the translation starts with");
  auto* replace = command.add_flag(
      "--replace-unknown", translate.replace_unknown,
      "put the source word it attends to most in place of a word with an unknown token");
  command
      .add_option("--dictionary", options->dictionary,
                  "file of \"source target\" words to look that word up in")
      ->needs(replace);
  command
      .add_option("--max-input", translate.max_input,
                  "a longer line is translated as far as so many tokens, with a warning; 0 = 500, "
                  "or the model's data.max_len if that is more")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--batch-tokens", translate.batch_tokens,
                  "source tokens times beam translated at a time: speed and memory only")
      ->check(CLI::PositiveNumber);
  add_utf8_option(command, options->invalid_utf8);
  command.footer(kFooter);
  run = [options] { return run_translate(*options); };
}

}  // namespace verso
