#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/seq2seq.h"

namespace verso {

/// How translations are looked for.
///
/// Beam search: all live hypotheses of a sentence are extended by all words; of these candidates
/// the best `beam - finished` by sum of log probabilities stay (equal sums: the earlier hypothesis,
/// then the lower id). One that ends with the end symbol is finished and keeps its place for good,
/// so the beam narrows until it is used up (as in Bahdanau et al. 2015's GroundHog and in Nematus);
/// beam 1 is greedy search. At the length limit what still lives is cut. The search ends early only
/// when no live hypothesis can reach the `nbest` best any more. Padding, begin symbol and forbidden
/// words are left out of the candidates without renormalising the rest.
///
/// The score that ranks hypotheses, finished and cut ones alike:
///   score = sum log p / length^length_penalty + coverage_penalty * sum_j log(min(sum_t alpha_tj,
///   1))
/// natural logarithm; length counts the end symbol where there is one (a hypothesis without any
/// token counts as 1); j runs over the source tokens without the end symbol (Wu et al. 2016,
/// arXiv:1609.08144, eq. 14, whose lp is another; a column's sum is taken as 1e-10 at least).
struct SearchOptions {
  std::int64_t beam = 5;   ///< with `sample`: how many independent samples
  std::int64_t nbest = 1;  ///< hypotheses returned; at most beam
  double length_penalty = 1.0;
  double coverage_penalty = 0.0;
  /// Most target tokens, end symbol included: factor * source tokens + extra (1 at least, and room
  /// for a forced prefix and its end).
  double max_length_factor = 3.0;
  std::int64_t max_length_extra = 10;
  std::int64_t no_repeat_ngram = 0;  ///< no n-gram of tokens twice in a hypothesis; 0 = off
  /// Draw each token from p^(1/temperature), among the top_k most probable (0 = all).
  bool sample = false;
  double temperature = 1.0;
  std::int64_t top_k = 0;
  std::uint64_t seed = 1;
  bool attention = true;  ///< return alpha
};

/// Throws UsageError naming the value that is out of range.
void check_search_options(const SearchOptions& options);

/// A sentence to translate.
struct SearchInput {
  std::span<const std::int32_t> source;  ///< ids without the end symbol
  std::span<const std::int32_t> prefix;  ///< ids that the translation must start with
  std::uint64_t stream = 0;  ///< whose random numbers: sampling depends on (seed, stream)
};

/// A translation that was found.
struct Hypothesis {
  std::vector<std::int32_t> ids;       ///< without the end symbol
  bool finished = false;               ///< false: cut at the length limit
  double log_prob = 0;                 ///< sum of token_log_probs
  double score = 0;                    ///< as above
  std::vector<float> token_log_probs;  ///< [ids, and the end symbol if finished]
  std::vector<float> alpha;            ///< [as token_log_probs][source tokens + end], row-major
};

/// Translates a batch: for each input up to `nbest` hypotheses, best score first. Several models
/// are an ensemble: log of the arithmetic mean of their probabilities, mean of their alpha. A
/// sentence's result does not depend on the others in the batch (to rounding of matrix products).
/// REQUIRES models in evaluation mode, on one device, with the same vocabularies; a source that is
/// not empty where the model does not attend to the end symbol. Throws UsageError (options),
/// NumericError (no word has a finite probability). No gradients; threads are LibTorch's.
[[nodiscard]] std::vector<std::vector<Hypothesis>> beam_search(
    const std::vector<Seq2Seq>& models, const std::vector<SearchInput>& inputs,
    const SearchOptions& options);

}  // namespace verso
