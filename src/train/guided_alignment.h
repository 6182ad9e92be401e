#pragma once

#include <vector>

#include "config/config.h"
#include "data/dataset.h"
#include "nn/torch_api.h"

/// Guided alignment: attention taught by given links. For a target token t whose word has links,
/// let J_t be the source tokens of the words that it is linked to and |J_t| their number; with r
/// the row of alpha from which t's links are read (t + model.decoder.shift),
///   loss = - sum_t 1/|J_t| sum_{j in J_t} log(alpha_rj + 1e-8)
/// the cross-entropy of alpha to the even distribution over J_t. Tokens of words without links add
/// nothing, nor do those whose row is past the sentence's last (its end symbol's).
namespace verso {

/// What a batch's links want of alpha.
struct GuidedTargets {
  Tensor positions;    ///< [links of tokens] int64, into alpha [batch, target_len, source_len]
  Tensor shares;       ///< [links of tokens], 1/|J_t|, of alpha's type
  int64_t tokens = 0;  ///< target tokens that are guided
};

/// `links` of the batch's pairs in its order; alpha [batch, target_len, source_len] for shape, type
/// and device. A link of a word without tokens adds nothing. Throws ShapeError when a pair is
/// longer than alpha.
[[nodiscard]] GuidedTargets guided_targets(const std::vector<PairLinks>& links, const Tensor& alpha,
                                           int64_t shift);

/// The loss above, a scalar that alpha's gradient flows through; summed, so that what a sentence
/// adds does not depend on its batch.
[[nodiscard]] Tensor guided_loss(const Tensor& alpha, const GuidedTargets& targets);

/// Weight of the loss at an update: weight * 2^(-update / half_life).
[[nodiscard]] double guided_weight(const GuidedConfig& config, int64_t update);

}  // namespace verso
