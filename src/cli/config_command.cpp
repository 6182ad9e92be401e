#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "config/load.h"
#include "config/override.h"
#include "config/problems.h"
#include "config/reference.h"
#include "config/schema.h"
#include "config/write.h"
#include "data/corpus.h"

namespace verso {
namespace {

struct CheckOptions {
  std::string config;
  std::vector<std::string> overrides;
};

/// Reads a corpus to its end and prints what it holds. Throws DataError.
void check_corpus(const CorpusConfig& corpus, const std::string& path, InvalidUtf8 rule) {
  const std::string& source_file = corpus.tsv.empty() ? corpus.source : corpus.tsv;
  const std::string& target_file = corpus.tsv.empty() ? corpus.target : corpus.tsv;
  PairReader reader(corpus);
  std::int64_t pairs = 0;
  std::int64_t blank = 0;
  std::int64_t invalid = 0;
  for (std::string source, target; reader.next(source, target); ++pairs) {
    const std::int64_t line = reader.line_number();
    if (!check_utf8(source, source_file, line, rule) ||
        !check_utf8(target, target_file, line, rule)) {
      ++invalid;
    } else if (split_tokens(source).empty() || split_tokens(target).empty()) {
      ++blank;
    }
    (void)reader.links(source, target);  // throws for a bad line
  }
  if (pairs == blank + invalid) {
    throw DataError(cat(path, ": ", source_file, ": no pair can be used: ", pairs, " pairs, ",
                        blank, " with a blank side, ", invalid, " not valid UTF-8"));
  }
  write_out(cat(path, ": ", pairs, " pairs, ", blank, " with a blank side, ", invalid,
                " left out as not valid UTF-8\n"));
}

/// Checks the files of all corpora; problems are added to `problems`.
void check_data(const Config& config, std::vector<std::string>& problems) {
  const DataConfig& data = config.data;
  const auto check = [&](const CorpusConfig& corpus, const std::string& path) {
    try {
      check_corpus(corpus, path, data.invalid_utf8);
    } catch (const DataError& problem) {
      problems.emplace_back(problem.what());
    }
  };
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    check(data.train[i], index_path("data.train", i));
  }
  if (has_validation(config)) check(data.valid, "data.valid");
}

std::string lines_of(const std::vector<std::string>& messages) {
  std::string text;
  for (const std::string& message : messages) text += cat(text.empty() ? "" : "\n", message);
  return text;
}

int run_check(const CheckOptions& options) {
  Config config = load_config(options.config);
  apply_overrides(config, options.overrides);
  Problems contradictions;
  for (const std::string& found : find_contradictions(config)) {
    contradictions.add(options.config, 0, found);
  }
  contradictions.throw_if_any();
  for (const std::string& note : find_idle_keys(config)) log::warning(note);
  std::vector<std::string> problems;
  check_data(config, problems);
  if (!problems.empty()) throw DataError(lines_of(problems));
  write_out(cat(options.config, ": good\n"));
  return 0;
}

int print(const std::string& text) {
  write_out(text);
  return 0;
}

}  // namespace

void setup_config(CLI::App& command, CommandRun& run) {
  command.require_subcommand(1);
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* check =
      command.add_subcommand("check", "looks at a configuration and its data without training");
  check->add_option("CONFIG", options->config, "configuration file")->required();
  check->add_option("--set", options->overrides, "key=value instead of the file's; may be repeated")
      ->allow_extra_args(false);
  CLI::App* schema = command.add_subcommand("schema", "prints the JSON Schema");
  CLI::App* defaults =
      command.add_subcommand("defaults", "prints every key with its default and meaning");
  command.add_subcommand("reference", "prints the reference page (Markdown)");
  run = [options, check, schema, defaults] {
    if (check->parsed()) return run_check(*options);
    if (schema->parsed()) return print(config_schema());
    if (defaults->parsed()) return print(write_config(Config{}, Comments::kHelp));
    return print(config_reference());
  };
}

}  // namespace verso
