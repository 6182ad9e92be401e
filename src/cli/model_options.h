#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "config/config.h"

namespace CLI {
class App;
}

namespace verso {

/// The options that every command with a model has.
struct ModelOptions {
  std::vector<std::string> paths;
  Device device = Device::kAuto;
  Kernels kernels = Kernels::kAuto;
  std::int64_t threads = 0;
};

/// Adds MODEL (one or several: an ensemble), --device, --kernels and --threads.
void add_model_options(CLI::App& command, ModelOptions& options);

/// The same for a command that looks into one model: MODEL, --device and --threads.
void add_studied_model_options(CLI::App& command, ModelOptions& options);

/// Adds --invalid-utf8 error|replace.
void add_utf8_option(CLI::App& command, InvalidUtf8& rule);

/// Models of a command, in evaluation mode on their device.
struct LoadedModels {
  std::vector<Checkpoint> checkpoints;

  [[nodiscard]] std::vector<const TranslationModel*> models() const;
};

/// Sets the threads and loads. Throws CheckpointError, UsageError.
[[nodiscard]] LoadedModels load_models(const ModelOptions& options);

}  // namespace verso
