#include "search/ensemble.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {

void check_same(const Vocabulary& first, const Vocabulary& other, const char* side,
                const std::string& name) {
  if (&first == &other) return;
  if (first.kind() == other.kind() && first.size() == other.size() &&
      first.bytes() == other.bytes()) {
    return;
  }
  throw UsageError(
      cat(name, ": its ", side, " vocabulary (", other.size(),
          " entries) differs from the first model's (", first.size(),
          " entries); models of an ensemble must be trained with the same vocabularies"));
}

}  // namespace

std::vector<Seq2Seq> ensemble_networks(const std::vector<const TranslationModel*>& models,
                                       const std::vector<std::string>& names) {
  if (models.empty()) throw UsageError("no model given");
  std::vector<Seq2Seq> networks;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string name = i < names.size() ? names[i] : cat("model ", i + 1);
    const VocabularyPair &first = models[0]->vocabularies, &other = models[i]->vocabularies;
    check_same(*first.source, *other.source, "source", name);
    check_same(*first.target, *other.target, "target", name);
    networks.push_back(models[i]->network);
  }
  return networks;
}

Tensor ensemble_log_probs(const std::vector<Tensor>& logits) {
  if (logits.size() == 1) return at::log_softmax(logits[0], -1);
  std::vector<Tensor> log_probs;
  for (const Tensor& one : logits) log_probs.push_back(at::log_softmax(one, -1));
  return at::logsumexp(at::stack(log_probs), 0) - std::log(static_cast<double>(logits.size()));
}

Tensor ensemble_mean(const std::vector<Tensor>& values) {
  return values.size() == 1 ? values[0] : at::stack(values).mean(0);
}

std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::size_t>& items,
                                                        const std::vector<std::int64_t>& lengths,
                                                        std::int64_t budget) {
  std::vector<std::size_t> sorted = items;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](std::size_t a, std::size_t b) { return lengths[a] > lengths[b]; });
  std::vector<std::vector<std::size_t>> batches;
  std::int64_t longest = 0;
  for (const std::size_t item : sorted) {
    const bool fits = !batches.empty() &&
                      longest * static_cast<std::int64_t>(batches.back().size() + 1) <= budget;
    if (!fits) {
      batches.emplace_back();
      longest = lengths[item];
    }
    batches.back().push_back(item);
  }
  return batches;
}

}  // namespace verso
