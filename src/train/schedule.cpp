#include "train/schedule.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace verso {

LearningRate::LearningRate(const TrainingConfig& config) : config_(config) {}

double LearningRate::at(int64_t update) const {
  double rate = config_.learning_rate;
  const auto k = static_cast<double>(std::max<int64_t>(update, 1));
  const auto warmup = static_cast<double>(config_.warmup);
  if (config_.schedule == Schedule::kPlateau) {
    const double floor = std::min(config_.min_learning_rate, rate);
    rate = std::max(rate * std::pow(config_.decay_factor, static_cast<double>(drops_)), floor);
  }
  if (k <= warmup) return rate * k / warmup;
  return config_.schedule == Schedule::kInverseSqrt ? rate * std::sqrt(warmup / k) : rate;
}

bool LearningRate::validated(bool gained) {
  if (config_.schedule != Schedule::kPlateau) return false;
  without_gain_ = gained ? 0 : without_gain_ + 1;
  if (without_gain_ < config_.decay_patience) return false;
  without_gain_ = 0;
  ++drops_;
  return true;
}

std::map<std::string, std::string> LearningRate::state() const {
  return {{"schedule.drops", cat(drops_)}, {"schedule.without_gain", cat(without_gain_)}};
}

void LearningRate::set_state(const std::map<std::string, std::string>& values) {
  drops_ = whole_number(values, "schedule.drops");
  without_gain_ = whole_number(values, "schedule.without_gain");
}

int64_t whole_number(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  int64_t number = 0;
  if (found != values.end()) {
    const std::string& text = found->second;
    const auto end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end) return number;
  }
  throw CheckpointError(cat("training state \"", key, "\" is ",
                            found == values.end() ? "missing" : "not a whole number"));
}

}  // namespace verso
