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
                             ///< in the end column when the model does not attend to it; each row
                             ///< is that of ForcedOptions::shift steps later
};

/// What a pair of lines is made of.
struct EncodedPair {
  EncodedLine source, target;
};

/// Which attention of a forced pair is told.
///   prior      alpha_tj, as the model attends before it makes y_t
///   posterior  what alpha_tj becomes once the target is known. Where one source word is the one
///              that y_t came from, Bayes' rule gives p(a_t = j | y) ~ alpha_tj p(y | a_t = j)
///              (Shankar and Sarawagi 2019, "Posterior attention models for sequence to sequence
///              learning"); to first order log p(y | a_t = j) = const - g_tj with
///              g_tj = dL/dalpha_tj, L = -log p(target | source), so
///                posterior_tj = alpha_tj exp(-g_tj) / sum_k alpha_tk exp(-g_tk)
///              One pass back for all of it, which with the generic kernels keeps the whole graph:
///              nine bytes for each source * target * attention. Each model of an ensemble has its
///              own. A model whose attention was guided with a shift attends to another word's
///              source at the step that makes a word; its posterior says little.
enum class AttentionKind { kPrior, kPosterior };

struct ForcedOptions {
  std::int64_t batch_tokens = 1000;  ///< positions of the longer side in a batch, padding included
  AttentionKind attention = AttentionKind::kPrior;
  /// The attention of a target token is read this many steps after the one that makes it: by then
  /// the model has read the token, in conditional order from 1 on, in rnnsearch order from 2 on.
  /// Past its end a sentence goes on with end symbols, so that every token has such a step.
  /// REQUIRES 0 with posterior attention, which knows the token as it is.
  std::int64_t shift = 0;
};

/// The shift with which a model's alignments are meant to be read: its model.decoder.shift.
[[nodiscard]] std::int64_t usual_shift(const TranslationModel& model);

/// Forced decoding: log p(target | source) by token and the attention of each step, with the same
/// numbers that beam_search() gives for these ids (to rounding). Several models are an ensemble as
/// there. In batches of similar length; results in order. A pair with an empty side gives an empty
/// record without asking the model. Note: encoding the text of a translation need not give the
/// tokens that the search produced; for the links of a translation use its own alpha, or its ids
/// here. REQUIRES models in evaluation mode. Throws UsageError when vocabularies differ, or when
/// posterior attention is to be shifted. Parameters get no gradients.
[[nodiscard]] std::vector<ForcedPair> forced_decode(
    const std::vector<const TranslationModel*>& models, std::vector<EncodedPair> pairs,
    const ForcedOptions& options = {});

/// The same for raw lines (source[i] with target[i]). REQUIRES valid UTF-8, equal numbers of lines.
[[nodiscard]] std::vector<ForcedPair> forced_decode(
    const std::vector<const TranslationModel*>& models, const std::vector<std::string>& source,
    const std::vector<std::string>& target, const ForcedOptions& options = {});

}  // namespace verso
