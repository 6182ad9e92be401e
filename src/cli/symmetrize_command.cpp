#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "align/symmetrize.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/choice.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "data/corpus.h"

namespace verso {
namespace {

struct Options {
  std::string forward, reverse;
  std::optional<Symmetrization> method = Symmetrization::kGrowDiag;  ///< none: agreement
  float threshold = 0.2F;
  bool swap = false, with_weights = false;
  std::int32_t first_index = 0;
};

std::vector<Link> merged(const std::vector<Link>& forward, const std::vector<Link>& reverse,
                         const Options& options) {
  return options.method ? symmetrize(forward, reverse, *options.method)
                        : agreeing_links(forward, reverse, options.threshold);
}

/// The links of a line. Throws DataError for a weight that agreement cannot multiply.
std::vector<Link> read_links(const std::string& line, const std::string& place,
                             const Options& options) {
  auto links = parse_links(line, place, options.first_index);
  if (options.method) return links;
  for (const Link& link : links) {
    if (link.weight >= 0) continue;
    throw DataError(cat(place, ": link ", link.source + options.first_index, "-",
                        link.target + options.first_index, " weighs ",
                        fixed(static_cast<double>(link.weight), 4),
                        "; expected weights from 0, as verso align --with-weights writes them"));
  }
  return links;
}

int run_symmetrize(const Options& options) {
  if (options.forward == "-" && options.reverse == "-") {
    throw UsageError("only one of FORWARD and REVERSE can be standard input");
  }
  CorpusConfig files;
  files.source = options.forward;
  files.target = options.reverse;
  PairReader reader(files);
  std::string forward_line, reverse_line;
  while (reader.next(forward_line, reverse_line)) {
    const auto forward = read_links(forward_line, reader.source_place(), options);
    auto reverse = read_links(reverse_line, reader.target_place(), options);
    if (options.swap) reverse = swap_sides(std::move(reverse));
    write_out(format_links(merged(forward, reverse, options), options.with_weights) + "\n");
  }
  return 0;
}

Choices<std::optional<Symmetrization>> methods() {
  Choices<std::optional<Symmetrization>> choices;
  for (const auto& [method, name] : enum_names<Symmetrization>) choices.emplace_back(name, method);
  choices.emplace_back("agreement", std::nullopt);
  return choices;
}

constexpr const char* kFooter =
    R"(FORWARD holds the links of a source-to-target model, one line a pair, source index first, as verso
align writes them; REVERSE those of a target-to-source model for the same pairs. A model of the other
direction has its own source first: give --swap-reverse for its output.

intersection         links of both            union  links of either
grow-diag            the intersection, then links of the union that touch one already there
                     (diagonals too), while their source or target word has no link yet
grow-diag-final      then the rest of FORWARD, then of REVERSE, where the source or target word has none
grow-diag-final-and  the same where the source and the target word have none
grow-diagonal        as grow-diag, but only where both words have no link yet
grow-diagonal-final  grow-diagonal, then as grow-diag-final-and

agreement            links whose weights' geometric mean is at least --threshold, a link that one side
                     lacks weighing 0 there: for soft links of both directions, as below. --with-weights
                     shows the mean

Blank lines stay blank. But for agreement, weights (0-0:0.9) are read and left out, as are possible
marks (0p0).
  verso align de-en --source de --target en > de-en.links
  verso align en-de --source en --target de > en-de.links
  verso symmetrize de-en.links en-de.links --swap-reverse > links
The best from models that learned from text alone, see verso align --help:
  verso align … --attention posterior --per all --threshold 0.01 --with-weights
  verso symmetrize … --swap-reverse --method agreement)";

}  // namespace

void setup_symmetrize(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  command.add_option("FORWARD", options->forward, "links of the source-to-target model")
      ->required();
  command.add_option("REVERSE", options->reverse, "links of the target-to-source model")
      ->required();
  add_choice(command, "--method", options->method, methods(), "how the two become one");
  const auto* threshold =
      command.add_option("--threshold", options->threshold, "least weight for agreement")
          ->check(CLI::Range(0.0001, 1.0))
          ->capture_default_str();
  command.add_flag("--with-weights", options->with_weights, "weights beside links of agreement");
  command.add_flag("--swap-reverse", options->swap, "links of REVERSE are target-source");
  command
      .add_option("--index", options->first_index, "first index of both files; output is from 0")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  command.footer(kFooter);
  run = [options, threshold] {
    if (options->method && (threshold->count() > 0 || options->with_weights)) {
      throw UsageError("--threshold and --with-weights belong to --method agreement");
    }
    return run_symmetrize(*options);
  };
}

}  // namespace verso
