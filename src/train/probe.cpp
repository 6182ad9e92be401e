#include "train/probe.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "train/attention_scores.h"
#include "train/studied_pair.h"

namespace verso {

namespace {

constexpr std::size_t kMostTokens = 60;  // a side; a larger picture cannot be read

std::vector<std::string> words_of(const std::string& line) {
  const auto views = split_tokens(line);
  return {views.begin(), views.end()};
}

bool fits(const EncodedLine& line) { return !line.ids.empty() && line.ids.size() <= kMostTokens; }

}  // namespace

bool probe_due(const ProbeConfig& config, std::int64_t update) {
  if (update == 0) return true;
  const std::int64_t every = config.every_updates;
  if (every > 0 && (update % every == 0 || update > every)) return update % every == 0;
  if (config.per_decade == 0) return false;
  const auto per_decade = static_cast<double>(config.per_decade);
  const double place = std::round(per_decade * std::log10(static_cast<double>(update)));
  return std::llround(std::pow(10.0, place / per_decade)) == update;
}

Probe::Probe(const Config& config, const CorpusConfig& corpus, const VocabularyPair& vocabularies) {
  const ParallelText all = read_parallel_text(corpus, config.data.invalid_utf8);
  for (std::size_t i = 0; i < all.source.size(); ++i) {
    if (std::ssize(pairs_) == config.probe.pairs) break;
    Pair pair{vocabularies.source->encode(all.source[i]),
              vocabularies.target->encode(all.target[i]), words_of(all.source[i]),
              words_of(all.target[i])};
    if (!fits(pair.source) || !fits(pair.target)) continue;
    pairs_.push_back(std::move(pair));
    text_.source.push_back(all.source[i]);
    text_.target.push_back(all.target[i]);
    if (!all.links.empty()) text_.links.push_back(all.links[i]);
  }
  if (pairs_.empty() && &corpus == &config.data.probe) {
    throw DataError(cat("data.probe (", files_of(corpus), "): none of ", all.source.size(),
                        " pairs has text on both sides and at most ", kMostTokens,
                        " tokens on each"));
  }
}

void Probe::open(const std::string& path, std::int64_t update) {
  if (std::filesystem::exists(path)) {
    std::istringstream in(read_file(path));
    std::string line, kept;
    while (std::getline(in, line)) {
      if (still_holds(line, update)) kept += line + "\n";
    }
    write_file_atomically(path, kept);
  }
  file_.emplace(path);
}

bool Probe::still_holds(const std::string& line, std::int64_t update) const {
  const auto record = nlohmann::json::parse(line, nullptr, false);
  if (!record.is_object() || !record.contains("update") || !record.contains("pair")) return false;
  const auto &when = record["update"], &which = record["pair"];
  if (!when.is_number_integer() || when > update || !which.is_number_unsigned()) return false;
  const auto pair = which.get<std::size_t>();
  return pair < pairs_.size() &&
         record.value("source", nlohmann::json()) == pairs_[pair].source_words &&
         record.value("target", nlohmann::json()) == pairs_[pair].target_words;
}

ProbeScores Probe::look(TranslationModel& model, std::int64_t update, double epoch) {
  ProbeScores scores;
  scores.update = update;
  scores.epoch = epoch;
  std::vector<GradientRecord> records;
  std::string lines;
  double tokens = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const Pair& pair = pairs_[i];
    records.push_back(gradient_record(
        attention_gradients(model.network, pair.source.ids, pair.target.ids),
        {pair.source_words, pair.source.word_of}, {pair.target_words, pair.target.word_of}));
    const GradientRecord& record = records.back();
    lines += cat("{\"update\":", update, ",\"pair\":", i, ",", json_fields(record));
    if (!text_.links.empty()) {
      lines += cat(",\"links\":", json_quote(format_links(text_.links[i])));
    }
    lines += "}\n";
    const auto rows = static_cast<double>(record.target_tokens);
    tokens += rows;
    scores.loss += record.loss;
    scores.entropy += record.entropy * rows;
    scores.energy_gradient += record.energy_gradient / static_cast<double>(pairs_.size());
    scores.query_gradient += record.query_gradient / static_cast<double>(pairs_.size());
    scores.key_gradient += record.key_gradient / static_cast<double>(pairs_.size());
  }
  if (tokens > 0) {
    scores.loss /= tokens;
    scores.entropy /= tokens;
  }
  scores.shares = whole_shares(records);
  if (!text_.links.empty()) {
    const Studied studied(model.network);
    scores.aer = attention_scores(model, text_, std::atomic<int>{0})->aer;
  }
  file_->append(lines);
  return scores;
}

}  // namespace verso
