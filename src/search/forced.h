#pragma once

#include <vector>

#include "search/ensemble.h"

namespace verso {

/// A given pair, read by a model as if it translated it so.
struct ForcedPair {
  EncodedLine source, target;
  std::vector<float> token_log_probs;  ///< [target tokens + end]; empty when a side has no token
  double log_prob = 0;                 ///< their sum
  std::vector<float> alpha;  ///< [target tokens + end][source tokens + end], row-major; exactly 0
                             ///< in the end column when the model does not attend to it
};

/// What a pair of lines is made of.
struct EncodedPair {
  EncodedLine source, target;
};

/// Forced decoding: log p(target | source) by token and the attention of each step, with the same
/// numbers that beam_search() gives for these ids (to rounding). Several models are an ensemble as
/// there. In batches of at most `batch_tokens` positions (of the longer side, padding included) of
/// similar length; results in order. A pair with an empty side gives an empty record without asking
/// the model. Note: encoding the text of a translation need not give the tokens that the search
/// produced; for the links of a translation use its own alpha, or its ids here. REQUIRES models in
/// evaluation mode. Throws UsageError when vocabularies differ. No gradients.
[[nodiscard]] std::vector<ForcedPair> forced_decode(
    const std::vector<const TranslationModel*>& models, std::vector<EncodedPair> pairs,
    std::int64_t batch_tokens = 1000);

/// The same for raw lines (source[i] with target[i]). REQUIRES valid UTF-8, equal numbers of lines.
[[nodiscard]] std::vector<ForcedPair> forced_decode(
    const std::vector<const TranslationModel*>& models, const std::vector<std::string>& source,
    const std::vector<std::string>& target, std::int64_t batch_tokens = 1000);

}  // namespace verso
