#include "train/run_folder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"

namespace verso {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr const char* kUpdatePrefix = "update-";
constexpr const char* kCheckpointSuffix = ".safetensors";
constexpr const char* kTranslationFolder = "valid";
constexpr const char* kCacheFolder = "cache";
constexpr const char* kEventFolder = "tensorboard";
constexpr const char* kFolders[] = {kTranslationFolder, kCacheFolder, kEventFolder};
constexpr const char* kLockFile = ".lock";

bool is_checkpoint_name(const std::string& name) {
  return name.size() > std::strlen(kCheckpointSuffix) && name.ends_with(kCheckpointSuffix) &&
         (name == kLastFile || name == kBestFile || name.starts_with("best-") ||
          name.starts_with(kUpdatePrefix));
}

/// "last.safetensors" of "last.safetensors.812.0.tmp", which a process left that was killed while
/// it wrote (AtomicFile); other names as they are.
std::string final_name(std::string name) {
  constexpr std::string_view kTemporary = ".tmp";
  if (!name.ends_with(kTemporary)) return name;
  name.resize(name.size() - kTemporary.size());
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t dot = name.find_last_not_of("0123456789");
    if (dot == std::string::npos || name[dot] != '.') break;
    name.resize(dot);
  }
  return name;
}

bool is_ours(const std::string& folder, const std::string& name) {
  if (folder == kTranslationFolder) return name.starts_with(kUpdatePrefix);
  if (folder == kCacheFolder) return name.starts_with("pairs-");
  if (folder == kEventFolder) return name.starts_with(kEventFile);
  return is_checkpoint_name(name) || name == "config.json" || name == "train.log" ||
         name == "metrics.jsonl" || name == "probe.jsonl";
}

std::vector<fs::path> own_files_in(const std::string& path, const char* folder) {
  std::vector<fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(fs::path(path) / folder, none)) {
    if (is_ours(folder, final_name(entry.path().filename().string()))) {
      files.push_back(entry.path());
    }
  }
  return files;
}

/// The files a run makes in its folder: what --overwrite removes and what tells that a run is
/// there.
std::vector<fs::path> own_files(const std::string& path) {
  std::vector<fs::path> files = own_files_in(path, "");
  for (const char* folder : kFolders) {
    for (auto& file : own_files_in(path, folder)) files.push_back(std::move(file));
  }
  return files;
}

/// Leaves a folder that is not empty, and a file of that name.
void remove_empty_folder(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) fs::remove(path, none);
}

/// Removes own_files() and the folders of ours that are empty then.
void remove_own_files(const std::string& path) {
  std::error_code none;
  for (const auto& own : own_files(path)) fs::remove(own, none);
  for (const char* folder : kFolders) remove_empty_folder(fs::path(path) / folder);
}

/// JSON has no infinity: such numbers become null.
ordered_json number(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr);
}

ordered_json number(const std::optional<double>& value) {
  return value ? number(*value) : ordered_json(nullptr);
}

}  // namespace

RunFolder::RunFolder(std::string path, RunMode mode) : path_(std::move(path)) {
  std::error_code error;
  if (mode == RunMode::kResume && !fs::exists(path_)) {
    throw CheckpointError(
        cat(path_, ": no such run folder to resume; leave --resume away to start"));
  }
  // A refusal leaves the folder as it was, so it comes before the lock's file.
  const auto present = own_files(path_);
  if (mode == RunMode::kFresh && !present.empty()) {
    throw DataError(cat(path_, ": holds a run already (", present.front().filename().string(),
                        "); go on with it by --resume, replace it by --overwrite, or choose "
                        "another \"output\""));
  }
  made_here_ = !fs::exists(path_);
  fs::create_directories(path_, error);
  if (error || !fs::is_directory(path_)) {
    throw DataError(cat(path_, ": cannot make the run folder: ",
                        error ? error.message() : "a file of that name is in the way",
                        "; choose another \"output\""));
  }
  try {
    claim(mode);
  } catch (const Error&) {
    if (made_here_) {
      fs::remove(file(kLockFile), error);
      fs::remove(path_, error);
    }
    throw;
  }
}

void RunFolder::claim(RunMode mode) {
  std::error_code error;
  lock_ = std::make_unique<FileLock>(file(kLockFile));
  if (mode == RunMode::kResume && !fs::exists(last())) {
    throw CheckpointError(cat(last(),
                              ": not found, so there is nothing to resume; start again with "
                              "--overwrite"));
  }
  for (const auto& own : own_files(path_)) {
    if (own.extension() == ".tmp") fs::remove(own, error);
  }
  fs::create_directories(file(kTranslationFolder), error);
  if (error) throw DataError(cat(file(kTranslationFolder), ": cannot be made: ", error.message()));
}

RunFolder::~RunFolder() {
  for (const auto& own : own_files_in(path_, "")) {
    if (is_checkpoint_name(own.filename().string())) return;
  }
  std::error_code none;
  remove_own_files(path_);
  fs::remove(file(kLockFile), none);
  if (made_here_) fs::remove(path_, none);
}

void RunFolder::forget_previous() const {
  std::error_code none;
  for (const auto& own : own_files_in(path_, "")) {
    if (own.filename() != "train.log") fs::remove(own, none);
  }
  for (const char* folder : {kTranslationFolder, kEventFolder}) {
    for (const auto& own : own_files_in(path_, folder)) fs::remove(own, none);
  }
  remove_empty_folder(events());
}

std::string RunFolder::events() const { return file(kEventFolder); }
std::string RunFolder::last() const { return file(kLastFile); }
std::string RunFolder::best() const { return file(kBestFile); }

std::string RunFolder::best(Metric metric) const {
  return file(cat("best-", enum_name(metric), kCheckpointSuffix));
}

std::string RunFolder::at_update(int64_t update) const {
  return file(cat(kUpdatePrefix, update, kCheckpointSuffix));
}

void RunFolder::keep_newest(int64_t keep) const {
  std::vector<std::pair<int64_t, fs::path>> kept;
  for (const auto& path : own_files_in(path_, "")) {
    const std::string name = path.filename().string();
    if (!name.starts_with(kUpdatePrefix)) continue;
    kept.emplace_back(std::atoll(name.c_str() + std::strlen(kUpdatePrefix)), path);
  }
  std::sort(kept.rbegin(), kept.rend());
  std::error_code none;
  for (std::size_t i = static_cast<std::size_t>(keep); i < kept.size(); ++i) {
    fs::remove(kept[i].second, none);
  }
}

void RunFolder::keep_cache(const std::string& digest) const {
  std::error_code none;
  for (const auto& own : own_files_in(path_, kCacheFolder)) {
    if (!own.filename().string().starts_with("pairs-" + digest)) fs::remove(own, none);
  }
}

void MetricsLog::rewind(const std::string& path, int64_t update, bool validation_due) {
  if (!fs::exists(path)) return;
  std::istringstream in(read_file(path));
  std::string line, kept;
  while (std::getline(in, line)) {
    const auto record = ordered_json::parse(line, nullptr, false);
    if (!record.is_object() || !record.contains("update")) continue;
    if (!record["update"].is_number_integer() || record["update"] > update) continue;
    const bool validation = record.value("kind", "") == "validation";
    if (validation && validation_due && record["update"] == update) continue;
    if (record.value("kind", "") == "end" || record.value("extra", false)) continue;
    kept += line + "\n";
  }
  write_file_atomically(path, kept);
}

MetricsLog::MetricsLog(const std::string& path, const std::optional<std::string>& events)
    : file_(path) {
  if (events) events_.emplace(*events, path);
}

void MetricsLog::append(const ordered_json& line) {
  file_.append(line.dump() + "\n");
  if (events_) events_->write(line);
}

void MetricsLog::sync() {
  file_.sync();
  if (events_) events_->sync();
}

void MetricsLog::write(const Progress& p) {
  ordered_json record = {{"kind", "train"},
                         {"update", p.update},
                         {"epoch", number(p.epoch)},
                         {"loss", number(p.loss)},
                         {"perplexity", number(p.perplexity)},
                         {"tokens_per_second", number(p.tokens_per_second)},
                         {"learning_rate", number(p.learning_rate)},
                         {"gradient_norm", number(p.gradient_norm)},
                         {"padding", number(p.padding)},
                         {"skipped", p.skipped},
                         {"elapsed", number(p.elapsed)},
                         {"left", number(p.left)},
                         {"left_to_validation", number(p.left_to_validation)}};
  if (p.guided) record["guided"] = number(p.guided);
  append(record);
}

void MetricsLog::write(const Validation& v) {
  const ordered_json record = {{"kind", "validation"},
                               {"update", v.update},
                               {"epoch", number(v.epoch)},
                               {"loss", number(v.loss)},
                               {"perplexity", number(v.perplexity)},
                               {"bleu", number(v.bleu)},
                               {"chrf", number(v.chrf)},
                               {"aer", number(v.aer)},
                               {"entropy", number(v.entropy)},
                               {"coverage", number(v.coverage)},
                               {"bleu_signature", v.bleu_signature},
                               {"chrf_signature", v.chrf_signature},
                               {"metric", enum_name(v.metric)},
                               {"best", number(v.best)},
                               {"best_update", v.best_update},
                               {"without_gain", v.without_gain},
                               {"patience", v.patience},
                               {"learning_rate", number(v.learning_rate)},
                               {"seconds", number(v.seconds)},
                               {"elapsed", number(v.elapsed)},
                               {"extra", v.extra}};
  append(record);
}

void MetricsLog::write(const ProbeScores& p) {
  ordered_json record = {{"kind", "probe"},
                         {"update", p.update},
                         {"epoch", number(p.epoch)},
                         {"loss", number(p.loss)},
                         {"entropy", number(p.entropy)},
                         {"energy_gradient", number(p.energy_gradient)},
                         {"query_gradient", number(p.query_gradient)},
                         {"key_gradient", number(p.key_gradient)}};
  for (std::size_t path = 0; path < kPathNames.size(); ++path) {
    record[cat(kPathNames[path], "_share")] = number(p.shares[path]);
  }
  record["aer"] = number(p.aer);
  append(record);
}

void MetricsLog::write_end(int64_t update, const std::string& reason) {
  append({{"kind", "end"}, {"update", update}, {"reason", reason}});
}

}  // namespace verso
