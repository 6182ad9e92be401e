#pragma once

#include <vector>

#include "model/translation_model.h"

namespace verso {

/// The networks of models that work together. Throws UsageError when there is none, and when
/// vocabularies differ, naming the model (counted from 1, or `names[i]` when given) and the side.
[[nodiscard]] std::vector<Seq2Seq> ensemble_networks(
    const std::vector<const TranslationModel*>& models, const std::vector<std::string>& names = {});

/// Log of the arithmetic mean of the models' probabilities.
///   logits: one [rows, target_vocab] a model -> [rows, target_vocab]
[[nodiscard]] Tensor ensemble_log_probs(const std::vector<Tensor>& logits);

/// Mean of tensors of one shape.
[[nodiscard]] Tensor ensemble_mean(const std::vector<Tensor>& values);

/// Items grouped so that each group has similar lengths and at most `budget` positions, padding
/// included (a longer item is alone). Falling length; deterministic.
[[nodiscard]] std::vector<std::vector<std::size_t>> batches_by_length(
    const std::vector<std::size_t>& items, const std::vector<std::int64_t>& lengths,
    std::int64_t budget);

}  // namespace verso
