#include "metrics/chrf.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "metrics/common.h"
#include "metrics/ngrams.h"
#include "metrics/unicode.h"

namespace verso {
namespace {

constexpr std::int64_t kLargestOrder = 32;
constexpr std::int64_t kLargestBeta = 1000;
constexpr double kEpsilon = 1e-16;

void check_options(const ChrfOptions& options) {
  for (const std::int64_t order : {options.char_order, options.word_order}) {
    if (order < 0 || order > kLargestOrder) {
      throw UsageError(cat("chrF: n-gram order is ", order, ", expected 0 to ", kLargestOrder));
    }
  }
  if (options.char_order + options.word_order == 0) {
    throw UsageError("chrF: character and word order are both 0, expected one above it");
  }
  if (options.beta < 1 || options.beta > kLargestBeta) {
    throw UsageError(cat("chrF: beta is ", options.beta, ", expected 1 to ", kLargestBeta));
  }
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') ||
         (c >= U'{' && c <= U'~');
}

/// Words with one mark of ASCII punctuation taken off: the last character, else the first.
std::vector<std::u32string_view> words_of(std::u32string_view text) {
  std::vector<std::u32string_view> words;
  for (const std::u32string_view word : unicode::split(text)) {
    if (word.size() > 1 && is_ascii_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_ascii_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

/// A line's n-grams: the sequences, and the counts of every order, which are views into them.
struct LineNgrams {
  std::u32string characters, words;
  std::vector<NgramCounts> counts;  // [char_order + word_order]
};

/// `numbers` is shared by a hypothesis and its references. REQUIRES `out` stays where it is: the
/// counts point into it.
void count_line(const std::string& line, const ChrfOptions& options, WordNumbers& numbers,
                LineNgrams& out) {
  std::u32string text = unicode::decode(line);
  if (options.lowercase) text = unicode::lower_case(text);
  if (options.whitespace) {
    out.characters = text;
  } else {
    for (const std::u32string_view word : unicode::split(text)) out.characters += word;
  }
  if (options.word_order > 0) out.words = numbers.sequence(words_of(text));
  for (std::int64_t n = 1; n <= options.char_order; ++n) {
    out.counts.push_back(count_ngrams(out.characters, n));
  }
  for (std::int64_t n = 1; n <= options.word_order; ++n) {
    out.counts.push_back(count_ngrams(out.words, n));
  }
}

ChrfScore empty_counts(const ChrfOptions& options) {
  const auto orders = static_cast<std::size_t>(options.char_order + options.word_order);
  ChrfScore counts;
  counts.hyp.resize(orders);
  counts.ref.resize(orders);
  counts.match.resize(orders);
  return counts;
}

ChrfScore compare(const LineNgrams& hypothesis, const LineNgrams& reference,
                  const ChrfOptions& options) {
  ChrfScore result = empty_counts(options);
  for (std::size_t i = 0; i < result.hyp.size(); ++i) {
    const NgramCounts& expected = reference.counts[i];
    for (const auto& [ngram, count] : expected) result.ref[i] += count;
    // Where the reference has no n-gram of this length, those of the hypothesis are not held
    // against it.
    if (expected.empty()) continue;
    for (const auto& [ngram, count] : hypothesis.counts[i]) {
      result.hyp[i] += count;
      if (const auto found = expected.find(ngram); found != expected.end()) {
        result.match[i] += std::min(count, found->second);
      }
    }
  }
  return result;
}

double f_score(double precision, double recall, double beta) {
  const double factor = beta * beta;
  const double denominator = factor * precision + recall;
  return denominator > 0 ? (1 + factor) * precision * recall / denominator : 0;
}

double score_of(const ChrfScore& counts, const ChrfOptions& options) {
  const auto beta = static_cast<double>(options.beta);
  double f_sum = 0, precision_sum = 0, recall_sum = 0;
  std::int64_t present = 0;
  for (std::size_t i = 0; i < counts.hyp.size(); ++i) {
    const auto hyp = static_cast<double>(counts.hyp[i]);
    const auto ref = static_cast<double>(counts.ref[i]);
    const auto match = static_cast<double>(counts.match[i]);
    const double precision = hyp > 0 ? match / hyp : kEpsilon;
    const double recall = ref > 0 ? match / ref : kEpsilon;
    f_sum += precision + recall > 0 ? f_score(precision, recall, beta) : kEpsilon;
    if (hyp > 0 && ref > 0) {
      precision_sum += precision;
      recall_sum += recall;
      ++present;
    }
  }
  if (options.eps_smoothing) return 100 * f_sum / static_cast<double>(counts.hyp.size());
  if (present == 0) return 0;
  const auto orders = static_cast<double>(present);
  return 100 * f_score(precision_sum / orders, recall_sum / orders, beta);
}

void add_sentence(const std::string& hypothesis, const std::vector<const std::string*>& references,
                  const ChrfOptions& options, ChrfScore& sums) {
  WordNumbers numbers;
  LineNgrams ours;
  count_line(hypothesis, options, numbers, ours);
  ChrfScore best = empty_counts(options);
  best.score = -1;
  for (const std::string* line : references) {
    LineNgrams theirs;
    count_line(*line, options, numbers, theirs);
    ChrfScore counts = compare(ours, theirs, options);
    counts.score = score_of(counts, options);
    if (counts.score > best.score) best = counts;
  }
  for (std::size_t i = 0; i < sums.hyp.size(); ++i) {
    sums.hyp[i] += best.hyp[i];
    sums.ref[i] += best.ref[i];
    sums.match[i] += best.match[i];
  }
}

}  // namespace

ChrfScore corpus_chrf(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references,
                      const ChrfOptions& options) {
  check_options(options);
  check_references(hypotheses.size(), references);
  ChrfScore result = empty_counts(options);
  std::vector<const std::string*> lines(references.size());
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    for (std::size_t set = 0; set < references.size(); ++set) lines[set] = &references[set][i];
    add_sentence(hypotheses[i], lines, options, result);
  }
  result.score = hypotheses.empty() ? 0 : score_of(result, options);
  return result;
}

ChrfScore sentence_chrf(const std::string& hypothesis, const std::vector<std::string>& references,
                        const ChrfOptions& options) {
  std::vector<std::vector<std::string>> sets;
  for (const std::string& reference : references) sets.push_back({reference});
  return corpus_chrf({hypothesis}, sets, options);
}

std::string chrf_name(const ChrfOptions& options) {
  return cat(
      "chrF", options.beta,
      std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, options.word_order)), '+'));
}

std::string chrf_signature(std::int64_t reference_sets, const ChrfOptions& options) {
  return cat("nrefs:", reference_sets, "|case:", options.lowercase ? "lc" : "mixed",
             "|eff:", options.eps_smoothing ? "no" : "yes", "|nc:", options.char_order,
             "|nw:", options.word_order, "|space:", options.whitespace ? "yes" : "no",
             "|version:", kMetricsVersion);
}

}  // namespace verso
