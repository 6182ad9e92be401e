#pragma once

#include <cstdint>

/// What a checkpoint holds, for its reader and its writer (a safetensors file, see safetensors.h):
///
/// metadata
///   verso.checksum        checksum.h; its place and meaning stay in every version
///   verso.format          "1", counted up when an older program could not read the file
///   verso.config          the effective configuration, JSON
///   verso.update          updates done, "1200"
///   verso.epoch           "3.25"
///   verso.score.NAME      validation score, "31.2"
///   verso.resumable       "yes" when a training state is inside, else "no"
///   verso.state.NAME      TrainingState::values
/// tensors
///   encoder.…, decoder.…  parameters under their names in the model (float32)
///   vocabulary.source     Vocabulary::bytes() (uint8); vocabulary.target is absent when both sides
///   vocabulary.target     share one vocabulary
///   state.NAME            TrainingState::tensors
/// Metadata of other names is left alone.
namespace verso {

inline constexpr std::int64_t kCheckpointFormat = 1;

inline constexpr const char* kFormatKey = "verso.format";
inline constexpr const char* kConfigKey = "verso.config";
inline constexpr const char* kUpdateKey = "verso.update";
inline constexpr const char* kEpochKey = "verso.epoch";
inline constexpr const char* kScorePrefix = "verso.score.";
inline constexpr const char* kResumableKey = "verso.resumable";
inline constexpr const char* kStateValuePrefix = "verso.state.";
inline constexpr const char* kSourceVocabularyName = "vocabulary.source";
inline constexpr const char* kTargetVocabularyName = "vocabulary.target";
inline constexpr const char* kVocabularyPrefix = "vocabulary.";
inline constexpr const char* kStateTensorPrefix = "state.";

}  // namespace verso
