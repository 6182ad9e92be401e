#include "cli/command_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/exit_codes.h"
#include "cli/standard_streams.h"
#include "nn/runtime.h"

namespace verso {
namespace {

constexpr std::array kCommands{
    Command{"train", "trains a model on parallel text", setup_train},
    Command{"translate", "translates standard input, line for line", setup_translate},
    Command{"align", "exports the alignments of given pairs", setup_align},
    Command{"symmetrize", "one set of links from those of both directions", setup_symmetrize},
    Command{"gradients", "how the gradient teaches attention, pair by pair", setup_gradients},
    Command{"score", "log probabilities of given pairs, perplexity", setup_score},
    Command{"evaluate", "BLEU and chrF of translations, AER of links", setup_evaluate},
    Command{"report", "one HTML page of a training run: curves, attention over time", setup_report},
    Command{"inspect", "shows what a checkpoint holds", setup_inspect},
    Command{"config", "checks configurations; shows keys, defaults and schema", setup_config},
    Command{"doctor", "what this machine and its libraries are worth, and what to mend",
            setup_doctor},
};

/// The innermost subcommand that the user named.
const CLI::App& innermost(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : innermost(*named.back());
}

/// "verso config check", as the user would type it.
std::string spelled_out(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : cat(spelled_out(*parent), " ", app.get_name());
}

void add_option_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
}

/// Message about the first argument that nothing takes.
std::string unexpected_argument(const CLI::App& app, const std::string& argument) {
  const CLI::App& command = innermost(app);
  std::vector<std::string> names;
  const char* what = "unexpected argument";
  std::string bare = argument;
  if (argument.starts_with("-")) {
    what = "unknown option";
    bare = argument.substr(0, argument.find('='));
    add_option_names(command, names);
    add_option_names(app, names);
  } else if (const auto subcommands = command.get_subcommands({}); !subcommands.empty()) {
    what = "unknown command";
    for (const CLI::App* subcommand : subcommands) names.push_back(subcommand->get_name());
  }
  const std::string nearest = nearest_name(bare, names);
  return cat(what, " \"", replace_invalid_utf8(argument), "\"",
             nearest.empty() ? "" : cat("; did you mean ", nearest, "?"));
}

[[noreturn]] void throw_usage(const CLI::App& app, const std::string& message) {
  throw UsageError(cat(message, "\nsee ", spelled_out(innermost(app)), " --help"));
}

/// Help of an option: " TYPE [default]", for a number within bounds " 0..1 [0.5]"; then the options
/// that it goes only with and those that it does not go with.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) {
      return cat(listed(" with ", option->get_needs()),
                 listed(" not with ", option->get_excludes()));
    }
    std::string type = option->get_type_name();  // "INT:INT in [0 - 1024]" with a range
    const std::size_t open = type.rfind(" in ["), dash = type.rfind(" - ");
    if (open != std::string::npos && dash != std::string::npos) {
      type = cat(type.substr(open + 5, dash - open - 5), "..",
                 type.substr(dash + 3, type.rfind(']') - dash - 3));
    }
    if (const std::size_t list = type.find(":{"); list != std::string::npos) {
      type = type.substr(list + 2, type.size() - list - 3);  // "TEXT:{source,target}"
      std::replace(type.begin(), type.end(), ',', '|');
    }
    type = type.substr(0, type.find(':'));  // "INT:POSITIVE"
    const std::string& usual = option->get_default_str();
    return cat(" ", type, usual.empty() ? "" : cat(" [", usual, "]"),
               option->get_required() ? " REQUIRED" : "",
               option->get_expected_max() == CLI::detail::expected_max_vector_size ? " ..." : "",
               listed(" with ", option->get_needs()), listed(" not with ", option->get_excludes()));
  }

 private:
  static std::string listed(const std::string& begin, const std::set<CLI::Option*>& options) {
    std::string out;
    for (const CLI::Option* option : options) {
      out += cat(out.empty() ? begin : ", ", option->get_name());
    }
    return out;
  }
};

/// Parses; true when help or the version was wanted and is printed.
bool parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
    return false;
  } catch (const CLI::CallForHelp&) {
    write_out(app.help());
    return true;
  } catch (const CLI::CallForVersion&) {
    write_out(cat("verso ", kVersion, "\n"));
    return true;
  } catch (const CLI::ParseError& problem) {
    const std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
    throw_usage(app, unknown.empty() ? problem.what() : unexpected_argument(app, unknown.front()));
  }
}

/// LibTorch tells that memory has run out by errors of its own.
int run_command(const CommandRun& run) {
  try {
    return run();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& problem) {
    if (is_out_of_memory(problem)) throw std::bad_alloc();
    throw;
  }
}

}  // namespace

std::span<const Command> command_table() { return kCommands; }

int run_program(int argc, const char* const* argv) {
  CLI::App app("Trains attention-based translation models, translates and aligns.", "verso");
  app.set_version_flag("--version", kVersion, "print the version");
  app.footer(exit_code_help());
  app.formatter(std::make_shared<HelpFormatter>());
  app.require_subcommand(0, 1);
  app.fallthrough();
  bool quiet = false;
  bool verbose = false;
  app.add_flag("-q,--quiet", quiet, "only warnings and errors on standard error");
  app.add_flag("-v,--verbose", verbose, "details on standard error");

  std::vector<std::pair<CLI::App*, CommandRun>> commands(kCommands.size());
  for (std::size_t i = 0; i < kCommands.size(); ++i) {
    auto& [command, run] = commands[i];
    command = app.add_subcommand(kCommands[i].name, kCommands[i].summary);
    kCommands[i].setup(*command, run);
  }
  if (parse(app, argc, argv)) return flush_out();
  if (quiet && verbose) throw_usage(app, "--quiet and --verbose exclude each other");
  log::to_stderr(quiet ? log::Level::kWarning : verbose ? log::Level::kDebug : log::Level::kInfo);

  for (const auto& [command, run] : commands) {
    if (!command->parsed()) continue;
    const int code = run_command(run);
    flush_out();
    return code;
  }
  throw_usage(app, "no command given");
}

}  // namespace verso
