#pragma once

#include "config/config.h"
#include "data/dataset.h"
#include "model/seq2seq.h"

namespace verso {

/// Everything that turns text into text: what a checkpoint holds and every command works with.
struct TranslationModel {
  Config config;
  VocabularyPair vocabularies;
  Seq2Seq network{nullptr};
};

/// Sizes and choices for Seq2Seq from a configuration and its vocabularies.
[[nodiscard]] inline ModelSpec model_spec(const Config& config,
                                          const VocabularyPair& vocabularies) {
  return {config.model, vocabularies.source->size(), vocabularies.target->size(), config.kernels};
}

}  // namespace verso
