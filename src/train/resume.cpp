#include "train/resume.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "config/write.h"
#include "train/schedule.h"

namespace verso {

namespace {

constexpr Metric kMetrics[] = {Metric::kBleu, Metric::kChrf,    Metric::kPerplexity,
                               Metric::kAer,  Metric::kEntropy, Metric::kCoverage};

double value_of(const Validation& validation, Metric metric) {
  switch (metric) {
    case Metric::kBleu:
      return validation.bleu;
    case Metric::kChrf:
      return validation.chrf;
    case Metric::kPerplexity:
      return validation.perplexity;
    case Metric::kAer:
      return validation.aer.value_or(std::numeric_limits<double>::quiet_NaN());
    case Metric::kEntropy:
      return validation.entropy;
    case Metric::kCoverage:
      return validation.coverage;
  }
  return 0;
}

bool lower_is_better(Metric metric) {
  return metric == Metric::kPerplexity || metric == Metric::kAer || metric == Metric::kEntropy;
}

/// Sharp or even attention is no merit of its own: a checkpoint for it is kept on request only.
bool judged(Metric metric, Metric deciding) {
  return metric == deciding || (metric != Metric::kEntropy && metric != Metric::kCoverage);
}

/// Keys whose value may change between the processes of one run. Where the corpora lie is one: what
/// they hold is compared by itself (check_same_data).
bool may_change(const std::string& path, const Allowed& allowed) {
  for (const char* free : {"output", "seed", "device", "threads", "kernels", "data.cache",
                           "data.valid.", "data.probe.", "validation.", "checkpoint.", "probe.",
                           "training.max_updates", "training.max_epochs", "training.max_nonfinite",
                           "training.log_every", "training.tensorboard"}) {
    if (path.starts_with(free)) return true;
  }
  if (path.starts_with("data.train[") && !path.ends_with(".weight")) return true;
  if (allowed.new_data && path.starts_with("data.")) return true;
  return allowed.reset && (path.starts_with("training.") || path.starts_with("model.dropout."));
}

}  // namespace

std::vector<Metric> BestScores::add(const Validation& validation) {
  const auto gains = [&](Metric metric, Bests& bests) {
    const double value = value_of(validation, metric);
    if (!std::isfinite(value) || !judged(metric, deciding_)) return false;
    Best& best = bests[metric];
    const bool better = lower_is_better(metric) ? value < best.value : value > best.value;
    if (best.update >= 0 && !better) return false;
    best = {value, validation.update};
    return true;
  };
  std::vector<Metric> better;
  for (const Metric metric : kMetrics) {
    if (gains(metric, files_)) better.push_back(metric);
  }
  if (validation.extra) return better;
  for (const Metric metric : kMetrics) static_cast<void>(gains(metric, best_));
  info_ = info_of(validation);
  without_gain_ = update() == validation.update ? 0 : without_gain_ + 1;
  return better;
}

BestScores::Best BestScores::deciding(const Bests& bests) const {
  const auto found = bests.find(deciding_);
  return found == bests.end() ? Best{} : found->second;
}

double BestScores::value() const { return deciding(best_).value; }
int64_t BestScores::update() const { return deciding(best_).update; }
double BestScores::file_value() const { return deciding(files_).value; }
int64_t BestScores::file_update() const { return deciding(files_).update; }

CheckpointInfo info_of(const Validation& validation) {
  CheckpointInfo info{validation.update, validation.epoch, {}};
  for (const Metric metric : kMetrics) {
    if (metric == Metric::kAer && !validation.aer) continue;
    info.scores[std::string(enum_name(metric))] = value_of(validation, metric);
  }
  return info;
}

std::map<std::string, std::string> BestScores::state() const {
  std::map<std::string, std::string> values = {{"best.without_gain", cat(without_gain_)},
                                               {"best.validated", cat(info_.update)},
                                               {"best.validated_epoch", exact(info_.epoch)}};
  for (const Metric metric : kMetrics) {
    const std::string name(enum_name(metric));
    for (const auto& [prefix, bests] : {std::pair("best.", &best_), {"file.", &files_}}) {
      const auto found = bests->find(metric);
      const Best best = found == bests->end() ? Best{} : found->second;
      values[prefix + name] = exact(best.value);
      values[prefix + name + ".update"] = cat(best.update);
    }
    const auto score = info_.scores.find(name);
    if (score != info_.scores.end()) values["score." + name] = exact(score->second);
  }
  return values;
}

void BestScores::set_state(const std::map<std::string, std::string>& values) {
  without_gain_ = whole_number(values, "best.without_gain");
  info_.update = whole_number(values, "best.validated");
  info_.epoch = real_number(values, "best.validated_epoch");
  best_.clear();
  files_.clear();
  info_.scores.clear();
  for (const Metric metric : kMetrics) {
    const std::string name(enum_name(metric));
    for (const auto& [prefix, bests] : {std::pair("best.", &best_), {"file.", &files_}}) {
      if (values.count(prefix + name + ".update") == 0) continue;  // a metric of later versions
      const int64_t update = whole_number(values, prefix + name + ".update");
      if (update >= 0) (*bests)[metric] = {real_number(values, prefix + name), update};
    }
    if (values.count("score." + name) != 0) {
      info_.scores[name] = real_number(values, "score." + name);
    }
  }
}

Config resumed_config(Config asked, const Checkpoint& last, const Allowed& allowed) {
  if (!last.resumable) {
    throw CheckpointError(cat(last.path, ": holds a model but no training state to resume"));
  }
  std::string changed;
  for (const ConfigDifference& difference : differences(last.model.config, asked)) {
    if (may_change(difference.path, allowed)) continue;
    changed += cat("\n  ", difference.path, ": the run has ", difference.first, ", asked is ",
                   difference.second);
  }
  if (!changed.empty()) {
    throw ConfigError(cat(last.path,
                          ": the configuration differs from the run's in keys that "
                          "cannot change on resume:",
                          changed, "\ntake the run's own config.json, or start another run"));
  }
  asked.seed = last.model.config.seed;
  return asked;
}

bool check_same_data(const Checkpoint& last, const Dataset& dataset, bool allowed) {
  const auto found = last.state.values.find("data.digest");
  if (found != last.state.values.end() && found->second == dataset.digest()) return true;
  if (allowed) return false;
  throw DataError(cat("the training data is not what this run began with (digest ",
                      dataset.digest(), ", expected ",
                      found == last.state.values.end() ? "none" : found->second,
                      "); put the old files back, say --new-data to go on with the new ones, or "
                      "start another run"));
}

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%a", value);
  return text;
}

double real_number(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  if (found != values.end() && !found->second.empty()) {
    char* end = nullptr;
    const double value = std::strtod(found->second.c_str(), &end);
    if (*end == '\0') return value;
  }
  throw CheckpointError(
      cat("training state \"", key, "\" is ", found == values.end() ? "missing" : "not a number"));
}

}  // namespace verso
