#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "align/display.h"
#include "align/look.css.h"
#include "base/text.h"
#include "report/curves.js.h"
#include "report/explanation.h"
#include "report/matrices.js.h"
#include "report/page_data.h"
#include "report/report.css.h"

namespace verso {

namespace {

using nlohmann::json;

/// Name and value of the summary; text, not markup.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// "2 h 05 min", "3 min 20 s", "12.3 s"
std::string duration(double seconds) {
  if (!(seconds < 1e15)) return "unknown";
  if (seconds < 60) return cat(fixed(seconds, 1), " s");
  const auto whole = static_cast<std::int64_t>(seconds);
  const auto two = [](std::int64_t number) { return cat(number < 10 ? "0" : "", number); };
  if (whole < 3600) return cat(whole / 60, " min ", two(whole % 60), " s");
  return cat(whole / 3600, " h ", two(whole / 60 % 60), " min");
}

std::string run_name(const std::string& folder) {
  const std::filesystem::path path(folder);
  const auto name = path.has_filename() ? path.filename() : path.parent_path().filename();
  return name.string().find_first_not_of('.') == std::string::npos
             ? std::filesystem::absolute(path).lexically_normal().parent_path().filename().string()
             : name.string();
}

std::int64_t last_update(const RunRecord& run) {
  std::int64_t last = run.end ? run.end->update : 0;
  for (const Curves* curves : {&run.train, &run.validation, &run.probe}) {
    if (!curves->updates.empty()) last = std::max(last, curves->updates.back());
  }
  return last;
}

/// "loss 2.31, perplexity 10.1" of the last row, what is missing left out.
std::string last_numbers(const Curves& curves,
                         std::initializer_list<std::pair<const char*, int>> wanted) {
  if (curves.updates.empty()) return "";
  std::string text;
  for (const auto& [name, digits] : wanted) {
    const double value = curves.column(name).back();
    if (!std::isfinite(value)) continue;
    text += cat(text.empty() ? "" : ", ", name, " ", fixed(value, digits));
  }
  return text.empty() ? "" : cat(text, " (update ", curves.updates.back(), ")");
}

std::string state_of(const RunRecord& run) {
  if (run.end) return cat("ended after update ", run.end->update, ": ", run.end->reason);
  return cat("no end is recorded: it is still running, or was stopped from outside; last record: ",
             "update ", last_update(run));
}

/// Mean over the progress lines, each of as many updates.
std::string speed_of(const Curves& train) {
  double sum = 0, count = 0;
  for (const double speed : train.column("tokens_per_second")) {
    if (!std::isfinite(speed)) continue;
    sum += speed;
    ++count;
  }
  return count == 0 ? "" : cat(fixed(sum / count, 0), " target tokens/s");
}

/// What the configuration says of model and data; nothing where it is damaged.
void add_config_facts(Facts& facts, const std::string& config) {
  const json whole = json::parse(config, nullptr, /*allow_exceptions=*/false);
  try {
    const json& model = whole.at("model");
    facts.emplace_back(
        "Model", cat("decoder ", model.at("decoder").at("kind").get<std::string>(),
                     ", encoder layers ", model.at("encoder").at("layers").get<std::int64_t>(),
                     ", embed ", model.at("embed").get<std::int64_t>(), ", hidden ",
                     model.at("hidden").get<std::int64_t>(), ", attention ",
                     model.at("attention").get<std::int64_t>()));
    std::string files;
    for (const json& corpus : whole.at("data").at("train")) {
      const auto tsv = corpus.at("tsv").get<std::string>();
      files += cat(files.empty() ? "" : "; ",
                   tsv.empty() ? cat(corpus.at("source").get<std::string>(), ", ",
                                     corpus.at("target").get<std::string>())
                               : tsv);
    }
    facts.emplace_back("Training text", files);
  } catch (const json::exception&) {
    // config.json of another version or mended by hand: it is shown as it is below.
  }
}

Facts facts_of(const RunRecord& run) {
  Facts facts = {{"Folder", run.folder}, {"State", state_of(run)}};
  if (run.best) {
    facts.emplace_back("Best", cat(run.best->metric, " ", fixed(run.best->value, 4), " at update ",
                                   run.best->update));
  }
  facts.emplace_back("Training", last_numbers(run.train, {{"loss", 4}, {"perplexity", 2}}));
  facts.emplace_back(
      "Validation",
      last_numbers(run.validation,
                   {{"loss", 4}, {"perplexity", 2}, {"bleu", 2}, {"chrf", 2}, {"aer", 4}}));
  facts.emplace_back("Progress", last_numbers(run.train, {{"epoch", 2}}));
  facts.emplace_back("Time", run.elapsed > 0 ? duration(run.elapsed) : "");
  facts.emplace_back("Speed", speed_of(run.train));
  facts.emplace_back("Last record", run.last_written);
  add_config_facts(facts, run.config);
  facts.emplace_back("BLEU", run.bleu_signature);
  facts.emplace_back("chrF", run.chrf_signature);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

std::string note(const std::string& text) {
  return cat("<p class=\"note\">", escape_markup(text), "</p>\n");
}

/// What the page cannot show, said where a reader looks first.
std::string notes_of(const RunRecord& run) {
  std::string notes;
  const auto damaged = [&](const char* file, const DamagedLines& lines) {
    if (lines.count == 0) return;
    notes += note(cat(lines.count, lines.count == 1 ? " damaged line" : " damaged lines", " of ",
                      file, lines.count == 1 ? " is" : " are", " left out, the first is line ",
                      lines.first, "."));
  };
  damaged("metrics.jsonl", run.damaged_metrics);
  damaged("probe.jsonl", run.damaged_probe);
  if (run.train.updates.empty() && run.validation.updates.empty()) {
    notes += note("Nothing has been recorded yet: metrics.jsonl is empty or missing.");
  } else if (run.validation.updates.empty()) {
    notes += note("Nothing has been validated yet, so there is no BLEU, chrF, AER or coverage.");
  }
  if (shown_updates(run.pairs).size() == kMostSnapshots) {
    notes += note(cat("The slider has at most ", kMostSnapshots,
                      " updates; where more were probed, it has an even choice of them."));
  }
  if (run.train.updates.size() > kMostPoints) {
    notes += note(cat("Curves of training are means over neighbours, at most ", kMostPoints,
                      " points each."));
  }
  return notes;
}

std::string summary_section(const RunRecord& run) {
  std::string out = "<dl>\n";
  for (const auto& [name, value] : facts_of(run)) {
    out +=
        cat("<div><dt>", escape_markup(name), "</dt><dd>", escape_markup(value), "</dd></div>\n");
  }
  out += "</dl>\n" + notes_of(run);
  if (run.config.empty()) return out + note("config.json is empty or missing.");
  std::string config;  // line by line: escape_markup shows a line end as a character
  for (std::size_t begin = 0, end; begin < run.config.size(); begin = end + 1) {
    end = std::min(run.config.find('\n', begin), run.config.size());
    config += escape_markup(run.config.substr(begin, end - begin)) + "\n";
  }
  return cat(out, "<details><summary>Configuration</summary>\n<pre>", config, "</pre></details>\n");
}

std::string explanation(std::string_view what) {
  return cat("<details open=\"open\">\n<summary>What is seen</summary>\n<p>", what, kExplanation,
             "</details>\n");
}

std::string attention_section(const RunRecord& run) {
  if (run.pairs.empty()) {
    return note("This run was not probed: probe.jsonl is empty or missing.");
  }
  return cat(explanation(kOfProbe), kControls, "<div id=\"pairs\"></div>\n");
}

/// A page with the scripts, which look for what `body` has of curves, controls and pairs.
std::string whole_page(const std::string& name, const std::string& body, const RunRecord& run) {
  const std::string title = escape_markup(name);
  return cat(
      "<!DOCTYPE html>\n"
      "<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
      "<link rel=\"icon\" href=\"data:,\"/>\n<title>",
      title, "</title>\n<style>\n", kLookCss, kReportCss, "</style>\n</head>\n<body>\n<h1>", title,
      "</h1>\n<noscript><p class=\"note\">The pictures need JavaScript, which is "
      "off.</p></noscript>\n",
      body, "<script type=\"application/json\" id=\"data\">\n", page_data(run), "</script>\n",
      "<script>\n//<![CDATA[\n", kCurvesJs, kMatricesJs, "//]]>\n</script>\n</body>\n</html>\n");
}

}  // namespace

std::string report_page(const RunRecord& run) {
  return whole_page("Report: " + run_name(run.folder),
                    cat(summary_section(run), "<h2>Curves</h2>\n<div id=\"curves\"></div>\n",
                        "<h2>Attention</h2>\n", attention_section(run)),
                    run);
}

std::string gradients_page(std::vector<ProbePair> pairs) {
  RunRecord record;
  record.pairs = std::move(pairs);
  const std::string body =
      record.pairs.empty() ? note("No pairs were given.")
                           : cat(explanation(kOfPairs), kControls, "<div id=\"pairs\"></div>\n");
  return whole_page("Attention and its gradients", body, record);
}

}  // namespace verso
