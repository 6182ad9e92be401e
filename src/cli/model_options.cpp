#include "cli/model_options.h"

#include <CLI/CLI.hpp>

#include "cli/choice.h"
#include "nn/buffer_cache.h"
#include "nn/runtime.h"

namespace verso {

namespace {

void add_machine_options(CLI::App& command, ModelOptions& options) {
  add_choice(command, "--device", options.device,
             {{"auto", Device::kAuto}, {"cpu", Device::kCpu}, {"cuda", Device::kCuda}},
             "where to compute");
  command.add_option("--threads", options.threads, "CPU threads; 0 = physical cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("MODEL", options.paths, "checkpoint file or run folder; several: an ensemble")
      ->required();
  add_choice(
      command, "--kernels", options.kernels,
      {{"auto", Kernels::kAuto}, {"fused", Kernels::kFused}, {"generic", Kernels::kGeneric}},
      "fused: hand-written CPU kernels; generic: LibTorch's operations; auto: fused where they can "
      "run");
  add_machine_options(command, options);
}

void add_studied_model_options(CLI::App& command, ModelOptions& options) {
  options.paths.resize(1);
  command.add_option("MODEL", options.paths.front(), "checkpoint file or run folder")->required();
  add_machine_options(command, options);
}

void add_utf8_option(CLI::App& command, InvalidUtf8& rule) {
  add_choice(command, "--invalid-utf8", rule,
             {{"error", InvalidUtf8::kError}, {"replace", InvalidUtf8::kReplace}},
             "error: end at a line that is not UTF-8; replace: bytes become U+FFFD");
}

std::vector<const TranslationModel*> LoadedModels::models() const {
  std::vector<const TranslationModel*> models;
  for (const Checkpoint& checkpoint : checkpoints) models.push_back(&checkpoint.model);
  return models;
}

LoadedModels load_models(const ModelOptions& options) {
  set_threads(options.threads);
  const torch::Device device = choose_device(options.device);
  LoadedModels loaded;
  for (const std::string& path : options.paths) {
    loaded.checkpoints.push_back(load_checkpoint(path, device));
    loaded.checkpoints.back().state = {};
    Seq2Seq& network = loaded.checkpoints.back().model.network;
    network->use_kernels(options.kernels);
    use_buffer_cache(network->fused());
  }
  return loaded;
}

}  // namespace verso
