#include "metrics/bleu.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "metrics/common.h"
#include "metrics/ngrams.h"
#include "metrics/unicode.h"

namespace verso {
namespace {

constexpr std::int64_t kLargestOrder = 16;

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::kFloor ? 0.1 : 1.0);
}

void check_options(const BleuOptions& options) {
  if (options.max_order < 1 || options.max_order > kLargestOrder) {
    throw UsageError(
        cat("BLEU: n-gram order is ", options.max_order, ", expected 1 to ", kLargestOrder));
  }
  const double value = smoothing_value(options);
  if (!std::isfinite(value) || value < 0) {
    throw UsageError(cat("BLEU: smoothing value is ", value, ", expected a number from 0 up"));
  }
}

std::vector<std::u32string> tokens_of(const std::string& line, const BleuOptions& options) {
  std::u32string text = unicode::decode(line);
  if (options.lowercase) text = unicode::lower_case(text);
  return bleu_tokens(text, options.tokenizer);
}

std::int64_t distance(std::int64_t a, std::int64_t b) { return a > b ? a - b : b - a; }

/// Adds one sentence's counts and lengths to `sums`.
void add_sentence(const std::string& hypothesis, const std::vector<const std::string*>& references,
                  const BleuOptions& options, BleuScore& sums) {
  WordNumbers numbers;
  const std::u32string words = numbers.sequence(tokens_of(hypothesis, options));
  std::vector<std::u32string> reference_words;
  for (const std::string* line : references) {
    reference_words.push_back(numbers.sequence(tokens_of(*line, options)));
  }

  const auto length = static_cast<std::int64_t>(words.size());
  std::int64_t nearest = std::numeric_limits<std::int64_t>::max();
  for (const std::u32string& reference : reference_words) {
    const auto candidate = static_cast<std::int64_t>(reference.size());
    if (distance(candidate, length) < distance(nearest, length) ||
        (distance(candidate, length) == distance(nearest, length) && candidate < nearest)) {
      nearest = candidate;
    }
  }
  sums.sys_len += length;
  sums.ref_len += nearest;
  if (hypothesis.ends_with(" .")) ++sums.tokenized_hypotheses;

  for (std::int64_t order = 1; order <= options.max_order; ++order) {
    NgramCounts most;  // of any one reference
    for (const std::u32string& reference : reference_words) {
      for (const auto& [ngram, count] : count_ngrams(reference, order)) {
        std::int64_t& known = most[ngram];
        known = std::max(known, count);
      }
    }
    const auto at = static_cast<std::size_t>(order - 1);
    for (const auto& [ngram, count] : count_ngrams(words, order)) {
      sums.totals[at] += count;
      if (const auto found = most.find(ngram); found != most.end()) {
        sums.counts[at] += std::min(count, found->second);
      }
    }
  }
}

/// Fills precisions, brevity penalty and score from the counts.
void finish(const BleuOptions& options, BleuScore& result) {
  if (result.sys_len < result.ref_len) {
    result.brevity_penalty = result.sys_len == 0
                                 ? 0
                                 : std::exp(1 - static_cast<double>(result.ref_len) /
                                                    static_cast<double>(result.sys_len));
  }
  // Without one match smoothing would make a score out of nothing.
  if (std::all_of(result.counts.begin(), result.counts.end(), [](auto n) { return n == 0; })) {
    return;
  }
  const auto orders = result.counts.size();
  auto effective_order = orders;
  double halving = 1;
  for (std::size_t i = 0; i < orders; ++i) {
    const double added =
        options.smoothing == BleuSmoothing::kAddK && i > 0 ? smoothing_value(options) : 0;
    const double count = static_cast<double>(result.counts[i]) + added;
    const double total = static_cast<double>(result.totals[i]) + added;
    if (total == 0) break;
    if (options.effective_order) effective_order = i + 1;
    if (count > 0) {
      result.precisions[i] = 100 * count / total;
    } else if (options.smoothing == BleuSmoothing::kExp) {
      halving *= 2;
      result.precisions[i] = 100 / (halving * total);
    } else if (options.smoothing == BleuSmoothing::kFloor) {
      result.precisions[i] = 100 * smoothing_value(options) / total;
    }
  }
  double log_sum = 0;
  for (std::size_t i = 0; i < effective_order; ++i) {
    if (result.precisions[i] == 0) return;
    log_sum += std::log(result.precisions[i]);
  }
  result.score = result.brevity_penalty * std::exp(log_sum / static_cast<double>(effective_order));
}

std::string smoothing_name(const BleuOptions& options) {
  switch (options.smoothing) {
    case BleuSmoothing::kExp:
      return "exp";
    case BleuSmoothing::kFloor:
      return cat("floor[", fixed(smoothing_value(options), 2), "]");
    case BleuSmoothing::kAddK:
      return cat("add-k[", fixed(smoothing_value(options), 2), "]");
    case BleuSmoothing::kNone:
      return "none";
  }
  return "";
}

}  // namespace

BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references,
                      const BleuOptions& options) {
  check_options(options);
  check_references(hypotheses.size(), references);
  BleuScore result;
  const auto orders = static_cast<std::size_t>(options.max_order);
  result.precisions.resize(orders);
  result.counts.resize(orders);
  result.totals.resize(orders);
  std::vector<const std::string*> lines(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t set = 0; set < references.size(); ++set) lines[set] = &references[set][i];
    add_sentence(hypotheses[i], lines, options, result);
  }
  finish(options, result);
  return result;
}

BleuScore sentence_bleu(const std::string& hypothesis, const std::vector<std::string>& references,
                        const BleuOptions& options) {
  std::vector<std::vector<std::string>> sets;
  for (const std::string& reference : references) sets.push_back({reference});
  return corpus_bleu({hypothesis}, sets, options);
}

std::string bleu_signature(std::int64_t reference_sets, const BleuOptions& options) {
  return cat("nrefs:", reference_sets, "|case:", options.lowercase ? "lc" : "mixed",
             "|eff:", options.effective_order ? "yes" : "no",
             "|tok:", tokenizer_name(options.tokenizer), "|smooth:", smoothing_name(options),
             "|version:", kMetricsVersion);
}

std::string bleu_details(const BleuScore& score) {
  std::string precisions;
  for (const double precision : score.precisions) {
    precisions += cat(precisions.empty() ? "" : "/", fixed(precision, 1));
  }
  const double ratio =
      score.ref_len == 0 ? 0
                         : static_cast<double>(score.sys_len) / static_cast<double>(score.ref_len);
  return cat(precisions, " (BP = ", fixed(score.brevity_penalty, 3), " ratio = ", fixed(ratio, 3),
             " hyp_len = ", score.sys_len, " ref_len = ", score.ref_len, ")");
}

}  // namespace verso
