#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "report/page.h"
#include "report/run_record.h"

namespace verso {

namespace {

struct Options {
  std::string run;
  std::string output;
};

void warn_of(const DamagedLines& damaged, const std::string& path) {
  if (damaged.count == 0) return;
  log::warning(cat(path, ":", damaged.first, ": not what a run writes; ", damaged.count,
                   damaged.count == 1 ? " such line is" : " such lines are",
                   " left out of the report"));
}

int run_report(const Options& options) {
  const std::filesystem::path folder(options.run);
  const RunRecord run = read_run(options.run);
  warn_of(run.damaged_metrics, (folder / "metrics.jsonl").string());
  warn_of(run.damaged_probe, (folder / "probe.jsonl").string());
  const std::string output =
      options.output.empty() ? (folder / "report.html").string() : options.output;
  write_file_atomically(output, report_page(run));
  write_out(output + "\n");
  return 0;
}

}  // namespace

void setup_report(CLI::App& command, CommandRun& run) {
  const auto options = std::make_shared<Options>();
  command.add_option("RUN", options->run, "folder of a training run, finished or not")->required();
  command.add_option("--output", options->output, "file to write; RUN/report.html if not given");
  command.footer(
      "One page of HTML that needs no network: summary and configuration, loss, perplexity, BLEU,\n"
      "AER, entropy, gradient norms and path shares over updates, and for each probe pair its\n"
      "attention with a slider over the probed updates. Prints where the page is.");
  run = [options] { return run_report(*options); };
}

}  // namespace verso
