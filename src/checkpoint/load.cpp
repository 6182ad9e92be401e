#include "config/load.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"
#include "checkpoint/safetensors.h"

namespace verso {
namespace {

namespace fs = std::filesystem;

/// The file that `path` means: itself, or a checkpoint of the run folder.
std::string find_file(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    throw CheckpointError(cat(path, ": ",
                              error && error != std::errc::no_such_file_or_directory
                                  ? error.message()
                                  : "there is no such file or folder",
                              "; expected a checkpoint (", kBestFile,
                              ") or a run folder, as verso "
                              "train makes them"));
  }
  if (!fs::is_directory(status)) {
    if (fs::is_regular_file(status)) return path;
    throw CheckpointError(cat(path,
                              ": not a regular file; a checkpoint cannot be read from a pipe "
                              "or a device"));
  }
  for (const char* name : {kBestFile, kLastFile}) {
    const fs::path file = fs::path(path) / name;
    if (fs::exists(file, error)) return file.string();
  }
  throw CheckpointError(cat(path, ": the folder holds no checkpoint; expected ", kBestFile, " or ",
                            kLastFile,
                            ", which verso train writes into the folder named by the "
                            "configuration's output"));
}

/// A file on its way to a Checkpoint: what was taken is gone, so that leftovers show.
struct Source {
  std::string path;
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;

  [[noreturn]] void fail(const std::string& problem) const {
    throw CheckpointError(cat(path, ": ", problem));
  }
  [[nodiscard]] const std::string& text(const char* key) const {
    const auto found = metadata.find(key);
    if (found == metadata.end()) fail(cat("its metadata lacks ", key));
    return found->second;
  }
  template <class Number>
  [[nodiscard]] Number number(const std::string& key, const std::string& value) const {
    Number result{};
    const auto parsed = std::from_chars(value.data(), value.data() + value.size(), result);
    if (parsed.ec != std::errc() || parsed.ptr != value.data() + value.size()) {
      fail(cat(key, " is ", json_quote(value.substr(0, 80)), ", expected a number"));
    }
    return result;
  }
};

void check_format(const Source& source) {
  if (source.metadata.count(kFormatKey) == 0) {
    source.fail(
        cat("a safetensors file, but not a checkpoint of Verso: its metadata lacks ", kFormatKey));
  }
  const auto version = source.number<int64_t>(kFormatKey, source.text(kFormatKey));
  if (version > kCheckpointFormat) {
    source.fail(cat("made by a newer Verso: its format is ", version, ", this program reads up to ",
                    kCheckpointFormat, "; use that version, or a later one"));
  }
  if (version < 1) source.fail(cat(kFormatKey, " is ", version, ", expected 1 or more"));
}

Source read_source(std::string path) {
  TensorFile file = read_safetensors(path, Integrity::kChecksum);
  Source source{std::move(path), std::move(file.metadata), {}};
  for (auto& [name, tensor] : file.tensors) source.tensors.emplace(std::move(name), tensor);
  check_format(source);
  return source;
}

/// What `make` gives; its errors are the checkpoint's.
template <class Make>
auto from_inside(const Source& source, const char* what, Make&& make) {
  try {
    return make();
  } catch (const ConfigError& problem) {
    source.fail(cat(what, " inside cannot be used: ", problem.what()));
  } catch (const DataError& problem) {
    source.fail(cat(what, " inside cannot be used: ", problem.what()));
  }
}

std::shared_ptr<const Vocabulary> take_vocabulary(Source& source, VocabularyKind kind,
                                                  const char* name) {
  const auto found = source.tensors.find(name);
  if (found == source.tensors.end()) source.fail(cat("it lacks the tensor ", name));
  const Tensor bytes = std::move(found->second);
  source.tensors.erase(found);
  if (bytes.scalar_type() != torch::kUInt8 || bytes.dim() != 1) {
    source.fail(cat(name, " is not a row of bytes (U8)"));
  }
  const std::string_view view(static_cast<const char*>(bytes.data_ptr()), bytes.nbytes());
  return from_inside(source, "the vocabulary",
                     [&] { return load_vocabulary(kind, view, cat(source.path, ": ", name)); });
}

VocabularyPair take_vocabularies(Source& source, VocabularyKind kind) {
  VocabularyPair pair;
  pair.source = take_vocabulary(source, kind, kSourceVocabularyName);
  pair.target = source.tensors.count(kTargetVocabularyName) == 0
                    ? pair.source
                    : take_vocabulary(source, kind, kTargetVocabularyName);
  return pair;
}

TrainingState take_state(Source& source) {
  TrainingState state;
  for (auto& [key, value] : source.metadata) {
    const std::size_t prefix = std::string_view(kStateValuePrefix).size();
    if (key.starts_with(kStateValuePrefix)) state.values[key.substr(prefix)] = std::move(value);
  }
  for (auto item = source.tensors.begin(); item != source.tensors.end();) {
    if (!item->first.starts_with(kStateTensorPrefix)) {
      ++item;
      continue;
    }
    const std::size_t prefix = std::string_view(kStateTensorPrefix).size();
    // A copy: the optimiser writes to it, and the file's map is read-only.
    state.tensors[item->first.substr(prefix)] = item->second.clone();
    item = source.tensors.erase(item);
  }
  return state;
}

CheckpointInfo read_info(const Source& source) {
  CheckpointInfo info;
  info.update = source.number<int64_t>(kUpdateKey, source.text(kUpdateKey));
  info.epoch = source.number<double>(kEpochKey, source.text(kEpochKey));
  if (info.update < 0 || !(info.epoch >= 0) || !std::isfinite(info.epoch)) {
    source.fail(cat(kUpdateKey, " or ", kEpochKey, " is negative or not finite"));
  }
  for (const auto& [key, value] : source.metadata) {
    const std::size_t prefix = std::string_view(kScorePrefix).size();
    if (key.starts_with(kScorePrefix)) {
      info.scores[key.substr(prefix)] = source.number<double>(key, value);
    }
  }
  return info;
}

/// A damaged configuration could ask for any amount of memory: the largest matrices that it implies
/// must fit in what the file holds before they are made.
void check_total_size(const Source& source, const ModelSpec& spec) {
  double found = 0;
  for (const auto& [name, tensor] : source.tensors) found += static_cast<double>(tensor.numel());
  const auto size = [](int64_t value) { return static_cast<double>(value); };
  const double embed = size(spec.model.embed), hidden = size(spec.model.hidden);
  const double least = size(spec.target_vocab) * embed + embed * embed +
                       6 * size(spec.model.encoder.layers) * hidden * hidden +
                       2 * size(spec.model.attention) * hidden;
  if (least > found) {
    source.fail(cat("its configuration describes a model of at least ", fixed(least, 0),
                    " parameters, but it holds ", fixed(found, 0)));
  }
}

std::string shape_text(const Tensor& tensor) {
  std::string text;
  for (const int64_t size : tensor.sizes()) text += cat(text.empty() ? "" : ", ", size);
  return cat("[", text, "]");
}

/// The first few of `names`, for a message.
std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return names.size() > kMost ? cat(text, " and ", names.size() - kMost, " more") : text;
}

void check_names(const Source& source, const torch::OrderedDict<std::string, Tensor>& parameters) {
  std::vector<std::string> missing, extra, problems;
  for (const auto& item : parameters) {
    if (source.tensors.count(item.key()) == 0) missing.push_back(item.key());
  }
  for (const auto& [name, tensor] : source.tensors) {
    if (!parameters.contains(name)) extra.push_back(json_quote(name));
  }
  if (missing.empty() && extra.empty()) return;
  std::string problem = "its tensors are not those of the model that its configuration describes:";
  if (!missing.empty()) problem += cat(" missing ", some_of(missing));
  if (!extra.empty()) problem += cat(missing.empty() ? "" : ";", " unknown ", some_of(extra));
  source.fail(problem);
}

void fill_parameters(const Source& source, Seq2SeqImpl& network) {
  const torch::NoGradGuard no_grad;
  auto parameters = network.named_parameters();
  check_names(source, parameters);
  for (auto& item : parameters) {
    const Tensor& found = source.tensors.at(item.key());
    Tensor& parameter = item.value();
    if (found.scalar_type() != torch::kFloat32) {
      source.fail(
          cat(item.key(), " is ", safetensors_dtype(found.scalar_type()), ", expected F32"));
    }
    if (found.sizes() != parameter.sizes()) {
      source.fail(cat(item.key(), " is ", shape_text(found),
                      ", but the configuration and the "
                      "vocabularies inside make it ",
                      shape_text(parameter)));
    }
    parameter.copy_(found);
  }
}

}  // namespace

Checkpoint load_checkpoint(const std::string& path, const torch::Device& device) {
  Source source = read_source(find_file(path));
  Checkpoint checkpoint;
  checkpoint.path = source.path;
  checkpoint.info = read_info(source);
  checkpoint.format = source.number<int64_t>(kFormatKey, source.text(kFormatKey));
  checkpoint.resumable = source.text(kResumableKey) == "yes";
  TranslationModel& model = checkpoint.model;
  model.config = from_inside(source, "the configuration", [&] {
    return parse_config(source.text(kConfigKey), cat(source.path, ": ", kConfigKey));
  });
  checkpoint.state = take_state(source);
  model.vocabularies = take_vocabularies(source, model.config.vocabulary.kind);
  ModelSpec spec = model_spec(model.config, model.vocabularies);
  spec.initialize = false;  // fill_parameters() writes every one
  check_total_size(source, spec);
  model.network = from_inside(source, "the configuration", [&] { return Seq2Seq(spec); });
  fill_parameters(source, *model.network);
  model.network->to(device);
  model.network->eval();
  return checkpoint;
}

}  // namespace verso
