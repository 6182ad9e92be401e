#include "cli/shift_options.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

namespace verso {

void add_shift_options(CLI::App& command, ShiftOptions& options) {
  command
      .add_option("--shift", options.shift,
                  "steps after the one that makes a target word from which its alignment is read; "
                  "the model's own model.decoder.shift unless given")
      ->check(CLI::IsMember({"0", "1", "2", "auto"}))
      ->type_name("0|1|2|auto");
  command.add_option("--dev-source", options.dev.source, "source sentences for --shift auto");
  command.add_option("--dev-target", options.dev.target, "target sentences for --shift auto");
  command.add_option("--dev-gold", options.dev.links, "gold links for --shift auto");
  command.add_option("--dev-gold-index", options.dev.links_index, "first index in --dev-gold")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
}

std::int64_t choose_shift(const ShiftOptions& options,
                          const std::vector<const TranslationModel*>& models,
                          const LinkOptions& links) {
  const CorpusConfig& dev = options.dev;
  const bool none = dev.source.empty() && dev.target.empty() && dev.links.empty();
  if (options.shift != "auto") {
    if (!none) throw UsageError("--dev-source, --dev-target and --dev-gold belong to --shift auto");
    return options.shift.empty() ? usual_shift(*models.at(0)) : std::stoll(options.shift);
  }
  if (dev.source.empty() || dev.target.empty() || dev.links.empty()) {
    throw UsageError(
        "--shift auto chooses on pairs with gold links: name --dev-source, --dev-target and "
        "--dev-gold");
  }
  const auto errors = errors_by_shift(models, read_parallel_text(dev, InvalidUtf8::kError), links);
  std::size_t best = 0;
  for (std::size_t shift = 0; shift < errors.size(); ++shift) {
    log::info(cat("shift ", shift, ": AER ", fixed(errors[shift].aer(), 4), ", precision ",
                  fixed(errors[shift].precision(), 4), ", recall ",
                  fixed(errors[shift].recall(), 4), " on ", dev.links));
    if (errors[shift].aer() < errors[best].aer()) best = shift;
  }
  log::info(cat("shift ", best, " is taken"));
  return static_cast<std::int64_t>(best);
}

}  // namespace verso
