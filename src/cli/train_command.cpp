#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console_reporter.h"
#include "config/load.h"
#include "config/override.h"
#include "train/trainer.h"

namespace verso {

namespace {

std::atomic<int> stop_signal{0};

/// The first signal asks for an end after the present update; a second one ends at once.
void on_signal(int number) {
  if (stop_signal.exchange(number) != 0) _exit(128 + number);
}

struct Options {
  std::string config;
  std::vector<std::string> overrides;
  bool resume = false, overwrite = false, reset_optimizer = false, new_data = false;
};

int run_train(const Options& options) {
  Config config = load_config(options.config);
  apply_overrides(config, options.overrides);
  std::string problems;
  for (const std::string& problem : find_contradictions(config)) problems += "\n  " + problem;
  if (!problems.empty()) throw ConfigError(cat(options.config, ":", problems));

  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);

  TrainOptions train_options;
  train_options.reset_optimizer = options.reset_optimizer;
  train_options.new_data = options.new_data;
  if (options.resume) train_options.mode = RunMode::kResume;
  if (options.overwrite) train_options.mode = RunMode::kOverwrite;
  TrainResult result;
  {
    ConsoleReporter reporter;
    result = train(config, train_options, reporter, stop_signal);
  }
  if (result.signal != 0) {
    log::info(cat("ended at update ", result.update, ": ", result.reason,
                  "; go on with: verso train ", config.output, "/config.json --resume"));
    return 128 + result.signal;
  }
  log::info(cat("ended at update ", result.update, ": ", result.reason,
                result.best_file.empty()
                    ? cat("; model: ", config.output, "/last.safetensors")
                    : cat("; best model (update ", result.best_update, "): ", result.best_file)));
  return 0;
}

}  // namespace

void setup_train(CLI::App& command, CommandRun& run) {
  auto options = std::make_shared<Options>();
  command.add_option("config", options->config, "configuration file (see verso config defaults)")
      ->required();
  command.add_option("--set", options->overrides, "key=value, overrides the file; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  auto* resume =
      command.add_flag("--resume", options->resume, "go on with the run in the folder \"output\"");
  command
      .add_flag("--overwrite", options->overwrite,
                "delete the run in the folder \"output\" (its own files only) and start anew")
      ->excludes(resume);
  command
      .add_flag("--reset-optimizer", options->reset_optimizer,
                "with --resume: keep parameters and position, start optimiser, learning rate and "
                "best scores anew")
      ->needs(resume);
  command
      .add_flag("--new-data", options->new_data,
                "with --resume: go on although the training data has changed; the vocabularies "
                "stay, the present epoch begins anew")
      ->needs(resume);
  command.footer(
      "SIGINT or SIGTERM finishes the update, saves, says how to go on and exits with 128 + the "
      "signal; a second one ends at once.");
  run = [options] { return run_train(*options); };
}

}  // namespace verso
