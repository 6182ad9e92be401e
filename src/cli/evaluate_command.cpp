#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "align/links.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/choice.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "data/corpus.h"
#include "metrics/aer.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

namespace verso {

namespace {

struct Options {
  std::vector<std::string> references;
  std::string gold;
  BleuOptions bleu;
  std::int64_t gold_index = 0, links_index = 0;
  bool json = false;
};

/// Translations that look tokenised from which on a warning is due, as in sacreBLEU.
constexpr std::int64_t kSuspicious = 100;

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    check_utf8(line, path, reader.line_number(), InvalidUtf8::kError);
    lines.push_back(line);
  }
  return lines;
}

void check_counts(std::size_t found, const std::string& path, std::size_t expected) {
  if (found == expected) return;
  throw DataError(cat(path, ": ", found, " lines, but standard input has ", expected,
                      "; the two must match line for line"));
}

int evaluate_translations(const Options& options) {
  const std::vector<std::string> hypotheses = read_lines("-");
  std::vector<std::vector<std::string>> references;
  for (const std::string& path : options.references) {
    references.push_back(read_lines(path));
    check_counts(references.back().size(), path, hypotheses.size());
  }
  const auto sets = static_cast<std::int64_t>(references.size());
  const BleuScore bleu = corpus_bleu(hypotheses, references, options.bleu);
  if (bleu.tokenized_hypotheses >= kSuspicious) {
    log::warning(cat(bleu.tokenized_hypotheses,
                     " translations end in \" .\" and look tokenised: scores of text that is "
                     "tokenised twice cannot be compared; undo it, or use --tokenize none"));
  }
  ChrfOptions chrf_options;
  chrf_options.lowercase = options.bleu.lowercase;
  const double chrf = corpus_chrf(hypotheses, references, chrf_options).score;
  const std::string bleu_sign = bleu_signature(sets, options.bleu);
  const std::string chrf_sign = chrf_signature(sets, chrf_options);
  if (options.json) {
    write_out(cat("{\"bleu\":", json_number(bleu.score), ",\"chrf\":", json_number(chrf),
                  ",\"bleu_signature\":", json_quote(bleu_sign),
                  ",\"chrf_signature\":", json_quote(chrf_sign), "}\n"));
  } else {
    write_out(cat("BLEU|", bleu_sign, " = ", fixed(bleu.score, 2), " ", bleu_details(bleu), "\n"));
    write_out(cat(chrf_name(chrf_options), "|", chrf_sign, " = ", fixed(chrf, 2), "\n"));
  }
  return 0;
}

int evaluate_links(const Options& options) {
  const std::vector<std::string> links = read_lines("-");
  const std::vector<std::string> gold = read_lines(options.gold);
  check_counts(gold.size(), options.gold, links.size());
  AlignmentErrors errors;
  for (std::size_t i = 0; i < links.size(); ++i) {
    add_links(
        errors,
        parse_links(links[i], cat("stdin:", i + 1), static_cast<std::int32_t>(options.links_index)),
        parse_links(gold[i], cat(options.gold, ":", i + 1),
                    static_cast<std::int32_t>(options.gold_index)));
  }
  const auto numbers = {std::pair{"aer", errors.aer()}, std::pair{"precision", errors.precision()},
                        std::pair{"recall", errors.recall()}, std::pair{"f1", errors.f1()}};
  std::string line;
  for (const auto& [name, value] : numbers) {
    line += options.json ? cat(line.empty() ? "{\"" : ",\"", name, "\":", json_number(value))
                         : cat(line.empty() ? "" : "  ", name, " ", fixed(value, 4));
  }
  write_out(line + (options.json ? "}\n" : "\n"));
  return 0;
}

int run_evaluate(const Options& options) {
  if (options.references.empty() == options.gold.empty()) {
    throw UsageError(
        "evaluate needs either --reference (translations on standard input) or --gold "
        "(links on standard input)");
  }
  return options.gold.empty() ? evaluate_translations(options) : evaluate_links(options);
}

}  // namespace

void setup_evaluate(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  command.add_option("--reference", options->references,
                     "file of reference translations; repeat it for several sets");
  command.add_option("--gold", options->gold,
                     "file of gold links: i-j sure, ipj or i?j possible; one line a pair");
  add_choice(command, "--tokenize", options->bleu.tokenizer,
             {{"13a", BleuTokenizer::k13a},
              {"none", BleuTokenizer::kNone},
              {"intl", BleuTokenizer::kIntl},
              {"char", BleuTokenizer::kChar}},
             "how BLEU cuts words, as in sacreBLEU");
  command.add_flag("--lowercase", options->bleu.lowercase, "scores of lowercased text");
  command.add_option("--gold-index", options->gold_index, "first index in --gold")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  command.add_option("--links-index", options->links_index, "first index on standard input")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  command.add_flag("--json", options->json, "one JSON object");
  command.footer(
      "BLEU and chrF equal sacreBLEU's; the signature says how they were made.\n"
      "AER, precision, recall and F1 of links are those of Och and Ney 2003.");
  run = [options] { return run_evaluate(*options); };
}

}  // namespace verso
