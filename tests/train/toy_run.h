#pragma once

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "checkpoint/checkpoint.h"
#include "train/trainer.h"

namespace verso::test {

/// Keeps what a run reports.
struct Recorder : Reporter {
  std::vector<Progress> lines;
  std::vector<Validation> validations;
  int64_t ticks = 0;
  int64_t stop_at = -1;              ///< asks for an end at this update
  std::atomic<int>* stop = nullptr;  ///< through this

  void progress(const Progress& progress) override { lines.push_back(progress); }
  void tick(const Progress& progress) override {
    ++ticks;
    if (progress.update == stop_at) *stop = 15;
  }
  void validation(const Validation& validation) override { validations.push_back(validation); }
};

/// A folder with a toy corpus: the target is the upper-cased source.
class ToyRun {
 public:
  explicit ToyRun(const std::string& name, int pairs = 200)
      : folder_(std::filesystem::temp_directory_path() / ("verso-train-test-" + name)) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("train", pairs, 7);
    write("valid", 20, 8);
  }
  ~ToyRun() { std::filesystem::remove_all(folder_); }
  ToyRun(const ToyRun&) = delete;
  ToyRun& operator=(const ToyRun&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

  [[nodiscard]] Config config(const std::string& output) const {
    Config config;
    config.output = path(output);
    config.seed = 7;
    config.threads = 1;
    config.data.train.push_back({path("train.src"), path("train.tgt"), "", 1.0});
    config.data.valid = {path("valid.src"), path("valid.tgt"), "", 1.0};
    config.vocabulary.kind = VocabularyKind::kWord;
    config.model.embed = 8;
    config.model.hidden = 12;
    config.model.attention = 10;
    config.model.dropout = {0.2, 0.2, 0.1, 0.2, 0.05, 0.05};
    config.training.batch_tokens = 60;
    config.training.learning_rate = 0.01;
    config.training.max_epochs = 0;
    config.training.max_updates = 60;
    config.training.log_every = 1;
    config.validation.every_updates = 25;
    config.validation.patience = 0;
    return config;
  }

  static TrainResult run(const Config& config, Recorder& recorder, RunMode mode = RunMode::kFresh,
                         int64_t stop_at = -1) {
    std::atomic<int> stop{0};
    recorder.stop = &stop;
    recorder.stop_at = stop_at;
    return train(config, {mode, false}, recorder, stop);
  }

 private:
  void write(const std::string& name, int pairs, std::uint64_t seed) const {
    std::ofstream source(folder_ / (name + ".src")), target(folder_ / (name + ".tgt"));
    Random random(seed);
    for (int i = 0; i < pairs; ++i) {
      const auto words = 1 + random.below(6);
      for (std::uint64_t w = 0; w < words; ++w) {
        const auto letter = static_cast<char>(random.below(8));
        source << (w == 0 ? "" : " ") << static_cast<char>('a' + letter);
        target << (w == 0 ? "" : " ") << static_cast<char>('A' + letter);
      }
      source << "\n";
      target << "\n";
    }
  }

  std::filesystem::path folder_;
};

/// True when two checkpoints hold the same parameters and training tensors, bit for bit.
inline bool same_bits(const Checkpoint& a, const Checkpoint& b) {
  const auto ours = a.model.network->named_parameters();
  for (const auto& item : b.model.network->named_parameters()) {
    if (!torch::equal(item.value(), ours[item.key()])) return false;
  }
  if (a.state.tensors.size() != b.state.tensors.size()) return false;
  for (const auto& [name, tensor] : a.state.tensors) {
    const auto found = b.state.tensors.find(name);
    if (found == b.state.tensors.end() || !torch::equal(tensor, found->second)) return false;
  }
  return true;
}

}  // namespace verso::test
