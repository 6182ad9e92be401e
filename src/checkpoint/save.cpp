#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/format.h"
#include "checkpoint/safetensors.h"
#include "config/write.h"

namespace verso {
namespace {

Tensor as_tensor(const std::string& bytes) {
  Tensor tensor = at::empty({static_cast<int64_t>(bytes.size())}, torch::kUInt8);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

void add_parameters(const std::string& path, const Seq2Seq& network, TensorFile& file) {
  for (const auto& item : network->named_parameters()) {
    const Tensor value = item.value().detach();
    if (value.scalar_type() != torch::kFloat32) {
      throw CheckpointError(cat(path, ": not written: the parameter ", item.key(), " is ",
                                safetensors_dtype(value.scalar_type()),
                                ", expected F32; convert the model to float first"));
    }
    if (!at::isfinite(value).all().item<bool>()) {
      throw NumericError(cat(path, ": not written: the parameter ", item.key(),
                             " holds infinities or NaN; go on from an older checkpoint, with a "
                             "lower training.learning_rate or training.clip_norm"));
    }
    file.tensors.emplace_back(item.key(), value);
  }
}

void add_info(const CheckpointInfo& info, std::map<std::string, std::string>& metadata) {
  metadata[kUpdateKey] = cat(info.update);
  metadata[kEpochKey] = json_number(info.epoch);
  for (const auto& [name, score] : info.scores) {
    if (std::isfinite(score)) metadata[kScorePrefix + name] = json_number(score);
  }
}

}  // namespace

void save_checkpoint(const std::string& path, const TranslationModel& model,
                     const CheckpointInfo& info, const TrainingState* state) {
  TensorFile file;
  file.metadata[kFormatKey] = cat(kCheckpointFormat);
  file.metadata[kConfigKey] = write_config(model.config);
  file.metadata[kResumableKey] = state != nullptr ? "yes" : "no";
  add_info(info, file.metadata);
  add_parameters(path, model.network, file);
  const VocabularyPair& vocabularies = model.vocabularies;
  file.tensors.emplace_back(kSourceVocabularyName, as_tensor(vocabularies.source->bytes()));
  if (vocabularies.target != vocabularies.source) {
    file.tensors.emplace_back(kTargetVocabularyName, as_tensor(vocabularies.target->bytes()));
  }
  if (state != nullptr) {
    for (const auto& [name, value] : state->values) file.metadata[kStateValuePrefix + name] = value;
    for (const auto& [name, value] : state->tensors) {
      file.tensors.emplace_back(kStateTensorPrefix + name, value);
    }
  }
  write_safetensors(path, file);
}

}  // namespace verso
