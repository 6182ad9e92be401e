#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>

#include "align/symmetrize.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "data/corpus.h"

namespace verso {
namespace {

struct Options {
  std::string forward, reverse;
  Symmetrization method = Symmetrization::kGrowDiag;
  bool swap = false;
  std::int32_t first_index = 0;
};

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
    const auto forward = parse_links(forward_line, reader.source_place(), options.first_index);
    auto reverse = parse_links(reverse_line, reader.target_place(), options.first_index);
    if (options.swap) reverse = swap_sides(std::move(reverse));
    write_out(format_links(symmetrize(forward, reverse, options.method)) + "\n");
  }
  return 0;
}

std::map<std::string, Symmetrization> methods() {
  std::map<std::string, Symmetrization> names;
  for (const auto& [method, name] : enum_names<Symmetrization>) names.emplace(name, method);
  return names;
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

Blank lines stay blank. Weights (0-0:0.9) and possible marks (0p0) are read and left out.
  verso align de-en --source de --target en > de-en.links
  verso align en-de --source en --target de > en-de.links
  verso symmetrize de-en.links en-de.links --swap-reverse > links)";

}  // namespace

void setup_symmetrize(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  command.add_option("FORWARD", options->forward, "links of the source-to-target model")
      ->required();
  command.add_option("REVERSE", options->reverse, "links of the target-to-source model")
      ->required();
  command.add_option("--method", options->method, "how the two become one")
      ->transform(CLI::Transformer(methods()))
      ->type_name(
          "intersection|union|grow-diag|grow-diag-final|grow-diag-final-and|grow-diagonal|"
          "grow-diagonal-final")
      ->default_str("grow-diag");
  command.add_flag("--swap-reverse", options->swap, "links of REVERSE are target-source");
  command
      .add_option("--index", options->first_index, "first index of both files; output is from 0")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  command.footer(kFooter);
  run = [options] { return run_symmetrize(*options); };
}

}  // namespace verso
