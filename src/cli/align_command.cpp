#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "align/export.h"
#include "align/forced_links.h"
#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "cli/choice.h"
#include "cli/commands.h"
#include "cli/given_pairs.h"
#include "cli/model_options.h"
#include "cli/shift_options.h"
#include "cli/standard_streams.h"

namespace verso {

namespace {

enum class Format { kLinks, kJson, kNematus, kSvg, kHtml, kText };

struct Options {
  ModelOptions model;
  GivenPairsOptions pairs;
  Format format = Format::kLinks;
  AttentionKind attention = AttentionKind::kPrior;
  LinkOptions links;
  ShiftOptions shift;
  bool with_weights = false, with_words = false, with_end = false, pieces = false, colour = false;
  std::string folder;
};

std::vector<std::string> pieces_of(const EncodedLine& line, const Vocabulary& vocabulary) {
  std::vector<std::string> pieces;
  for (const std::int32_t id : line.ids) pieces.push_back(vocabulary.token(id));
  return pieces;
}

/// Attention of a forced pair over words (or, with --pieces, over the model's tokens).
SoftAlignment soft_alignment(const ForcedPair& pair, const std::string& source,
                             const std::string& target, const VocabularyPair& vocabularies,
                             const Options& options) {
  SoftAlignment soft = word_alignment(pair, source, target);
  if (options.pieces && !pair.alpha.empty()) {
    soft.source = pieces_of(pair.source, *vocabularies.source);
    soft.target = pieces_of(pair.target, *vocabularies.target);
    soft.weights = pair.alpha;
  }
  return options.with_end ? soft : without_ends(soft);
}

std::string links_line(const SoftAlignment& soft, const Options& options) {
  const std::vector<Link> links = extract_links(soft, options.links.rule, options.links.threshold);
  return (options.with_words ? format_links_with_words(links, soft, options.with_weights)
                             : format_links(links, options.with_weights)) +
         "\n";
}

void write_pair(const SoftAlignment& soft, std::int64_t id, const Options& options) {
  switch (options.format) {
    case Format::kLinks:
      return write_out(links_line(soft, options));
    case Format::kJson:
      return write_out(json_record(soft, id));
    case Format::kNematus:
      return write_out(nematus_record(soft, id));
    case Format::kHtml:
      return write_out(html_pair(soft, id));
    case Format::kText:
      return write_out(heat_map(soft, options.colour ? Colour::kAnsi : Colour::kNone) + "\n");
    case Format::kSvg:
      return write_file_atomically(cat(options.folder, "/pair-", id, ".svg"),
                                   svg_picture(soft, cat("pair ", id)));
  }
}

int run_align(const Options& options) {
  if (options.format == Format::kSvg) {
    if (options.folder.empty()) {
      throw UsageError("--format svg makes a file for each pair; name their --folder");
    }
    std::error_code error;
    std::filesystem::create_directories(options.folder, error);
    if (error) throw DataError(cat(options.folder, ": cannot be made: ", error.message()));
  }
  GivenPairs input(options.pairs);
  const LoadedModels loaded = load_models(options.model);
  const VocabularyPair& vocabularies = loaded.checkpoints.front().model.vocabularies;
  ForcedOptions forced_options;
  forced_options.attention = options.attention;
  ShiftOptions shift = options.shift;
  if (options.attention == AttentionKind::kPosterior) {
    if (!shift.shift.empty() && shift.shift != "0") {
      throw UsageError(
          "--attention posterior knows each word at the step that makes it; --shift other than 0 "
          "belongs to prior");
    }
    shift.shift = "0";
  }
  forced_options.shift = choose_shift(shift, loaded.models(), options.links);
  std::int64_t id = 0;
  if (options.format == Format::kHtml) write_out(html_begin("Alignments"));
  for (ParallelText pairs = input.next(); !pairs.source.empty(); pairs = input.next()) {
    const auto forced = forced_decode(loaded.models(), pairs.source, pairs.target, forced_options);
    for (std::size_t i = 0; i < forced.size(); ++i) {
      write_pair(soft_alignment(forced[i], pairs.source[i], pairs.target[i], vocabularies, options),
                 id++, options);
    }
    flush_out();
  }
  if (options.format == Format::kHtml) write_out(html_end());
  return 0;
}

constexpr const char* kFooter =
    R"(Aligns the pairs it is given (the model reads the target as if it had translated it so); for the
links of the model's own translations see verso translate --alignment.

Words are the white-space tokens of the lines as given. A pair of words weighs the sum over the
source word's pieces of the mean over the target word's pieces of the attention.

A model knows a target word only once it has read it. There are two ways to what it knows then:

--attention posterior asks the gradient. alpha is what the model expects before it makes a word;
the loss of the given target says by g = dL/dalpha where it had better looked. By Bayes' rule, to
first order, posterior = alpha exp(-g), rows normalised. It costs a pass back; with the generic
kernels that pass holds source * target * attention numbers. Better links by far from models that
learned from text alone; a model whose attention was guided to a later step (model.decoder.shift)
is better read there.

--shift reads the attention of a later step. --shift 0 takes the attention of the step that
makes the word; --shift N that of the step N later, which asks with a state that has read it: the
first is 1 with decoder kind conditional, 2 with rnnsearch. Behind the last word the model goes on
reading end symbols, so that every word has its step. --shift auto takes the one with the lowest AER
on pairs with gold links (--dev-source, --dev-target, --dev-gold); it logs the AER of each.

links    one line a pair: SOURCE-TARGET, from 0, source first: 0-0 1-2. End symbols are set aside
         before the best is taken. --per target: one link for each target word (its strongest source
         word); source: one for each source word; all: every pair of words over --threshold.
         With --with-weights 0-0:0.93; with --with-words "0-0 das the", links separated by a TAB.
         A pair with an empty side gives an empty line.
json     JSON Lines: id, source, target, score (log probability), matrix [target][source]
nematus  the matrix format of Nematus
text     a picture for terminals          html     one page with all pairs
svg      a file pair-N.svg for each pair in --folder)";

}  // namespace

void setup_align(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  add_model_options(command, options->model);
  add_pairs_options(command, options->pairs);
  add_choice(command, "--format", options->format,
             {{"links", Format::kLinks},
              {"json", Format::kJson},
              {"nematus", Format::kNematus},
              {"svg", Format::kSvg},
              {"html", Format::kHtml},
              {"text", Format::kText}},
             "what to write");
  add_choice(command, "--per", options->links.rule,
             {{"target", LinkRule::kPerTarget},
              {"source", LinkRule::kPerSource},
              {"all", LinkRule::kThreshold}},
             "which links");
  command
      .add_option("--threshold", options->links.threshold, "least weight of a link with --per all")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_choice(command, "--attention", options->attention,
             {{"prior", AttentionKind::kPrior}, {"posterior", AttentionKind::kPosterior}},
             "attention as the model attends before it makes a word, or as the gradient corrects "
             "it once the word is known");
  add_shift_options(command, options->shift);
  command.add_flag("--with-weights", options->with_weights, "weights beside links");
  command.add_flag("--with-words", options->with_words, "words beside links");
  command.add_flag("--with-end", options->with_end,
                   "matrices and pictures show the end symbols' row and column");
  command.add_flag("--pieces", options->pieces, "the model's tokens instead of words");
  command.add_flag("--colour", options->colour, "text in colour");
  command.add_option("--folder", options->folder, "where svg files go");
  command.footer(kFooter);
  run = [options] { return run_align(*options); };
}

}  // namespace verso
