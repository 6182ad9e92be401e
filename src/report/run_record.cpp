#include "report/run_record.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace verso {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr std::size_t kLargestConfig = std::size_t{4} << 20;

Curves curves_of(std::vector<std::string_view> names) {
  Curves curves{std::move(names), {}, {}};
  curves.columns.resize(curves.names.size());
  return curves;
}

void add(Curves& curves, std::int64_t update, const json& record) {
  std::vector<double> row;  // read as a whole first: a damaged line leaves nothing
  row.reserve(curves.names.size());
  for (const std::string_view name : curves.names) {
    row.push_back(number_or_nan(record, std::string(name).c_str()));
  }
  curves.updates.push_back(update);
  for (std::size_t i = 0; i < row.size(); ++i) curves.columns[i].push_back(row[i]);
}

/// Updates ascend in a file that one run wrote; in others order is made.
void sort_by_update(Curves& curves) {
  if (std::is_sorted(curves.updates.begin(), curves.updates.end())) return;
  std::vector<std::size_t> order(curves.updates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return curves.updates[a] < curves.updates[b];
  });
  const auto arrange = [&](auto& values) {
    auto sorted = values;
    for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = values[order[i]];
    values = std::move(sorted);
  };
  arrange(curves.updates);
  for (auto& column : curves.columns) arrange(column);
}

std::optional<RunRecord::Best> best_of(const json& record) {
  const double value = number_or_nan(record, "best");
  if (!std::isfinite(value)) return std::nullopt;
  return RunRecord::Best{record.value("metric", ""), value, whole_number(record, "best_update")};
}

void take(RunRecord& run, const json& record) {
  const std::string kind = record.at("kind").get<std::string>();
  const std::int64_t update = whole_number(record, "update");
  if (kind == "end") {
    run.end = {update, record.value("reason", "")};
    return;
  }
  if (kind == "train") {
    add(run.train, update, record);
  } else if (kind == "validation") {
    const std::string bleu = record.value("bleu_signature", "");
    const std::string chrf = record.value("chrf_signature", "");
    const auto best = best_of(record);
    add(run.validation, update, record);
    if (best) run.best = best;
    run.bleu_signature = bleu;
    run.chrf_signature = chrf;
  } else if (kind == "probe") {
    add(run.probe, update, record);
  } else {
    return;  // of a later version
  }
  run.end.reset();  // the run went on
  const double elapsed = number_or_nan(record, "elapsed");
  if (std::isfinite(elapsed)) run.elapsed = std::max(run.elapsed, elapsed);
}

std::string written_at(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "";
  std::tm time{};
  gmtime_r(&status.st_mtime, &time);
  char text[40];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &time)};
}

}  // namespace

const std::vector<double>& Curves::column(std::string_view name) const {
  const auto found = std::find(names.begin(), names.end(), name);
  return columns.at(static_cast<std::size_t>(found - names.begin()));
}

RunRecord::RunRecord()
    : train(curves_of({"epoch", "loss", "perplexity", "guided", "tokens_per_second",
                       "learning_rate", "gradient_norm"})),
      validation(
          curves_of({"epoch", "loss", "perplexity", "bleu", "chrf", "aer", "entropy", "coverage"})),
      probe(curves_of({"epoch", "loss", "entropy", "aer", "energy_gradient", "query_gradient",
                       "key_gradient", "value_share", "key_share", "start_share",
                       "recurrent_share"})) {}

RunRecord read_run(const std::string& folder) {
  const std::string config = folder + "/config.json", metrics = folder + "/metrics.jsonl";
  if (!file_exists(config) && !file_exists(metrics)) {
    const char* found = fs::is_directory(folder) ? "it holds neither config.json nor metrics.jsonl"
                        : file_exists(folder)    ? "it is no folder"
                                                 : "there is no such folder";
    throw DataError(cat(folder, ": ", found,
                        "; expected the folder of a training run, the \"output\" of its "
                        "configuration"));
  }
  RunRecord run;
  run.folder = folder;
  if (file_exists(config)) run.config = read_file(config, kLargestConfig);
  run.last_written = written_at(metrics);
  run.damaged_metrics = read_json_lines(metrics, [&](const json& record) { take(run, record); });
  for (Curves* curves : {&run.train, &run.validation, &run.probe}) sort_by_update(*curves);
  run.pairs = read_probe(folder + "/probe.jsonl", run.damaged_probe);
  return run;
}

}  // namespace verso
