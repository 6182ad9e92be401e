#include "train/guided_alignment.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr double kLeastWeight = 1e-8;  // keeps log and its gradient finite where alpha is 0

/// For each target word the source tokens of the words it is linked to.
std::map<std::int32_t, std::vector<int64_t>> wanted_tokens(const PairLinks& pair) {
  std::map<std::int32_t, std::vector<int64_t>> wanted;
  for (const WordLink& link : pair.links) {
    std::vector<int64_t>& tokens = wanted[link.target];
    for (std::size_t j = 0; j < pair.source_words.size(); ++j) {
      if (pair.source_words[j] == link.source) tokens.push_back(static_cast<int64_t>(j));
    }
  }
  for (auto& [word, tokens] : wanted) {  // a link may be given twice
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  }
  return wanted;
}

}  // namespace

GuidedTargets guided_targets(const std::vector<PairLinks>& links, const Tensor& alpha,
                             int64_t shift) {
  const int64_t target_len = alpha.size(1), source_len = alpha.size(2);
  std::vector<int64_t> positions;
  std::vector<double> shares;
  GuidedTargets targets;
  for (std::size_t row = 0; row < links.size(); ++row) {
    const PairLinks& pair = links[row];
    if (pair.links.empty()) continue;
    const int64_t last = std::ssize(pair.target_words);  // the end symbol's row
    if (last >= target_len || std::ssize(pair.source_words) >= source_len) {
      throw ShapeError(cat("guided alignment: a pair of ", pair.source_words.size(), " and ", last,
                           " tokens in a batch of ", source_len, " and ", target_len,
                           " positions"));
    }
    const auto wanted = wanted_tokens(pair);
    for (int64_t t = 0; t < last && t + shift <= last; ++t) {
      const auto found = wanted.find(pair.target_words[static_cast<std::size_t>(t)]);
      if (found == wanted.end() || found->second.empty()) continue;
      ++targets.tokens;
      const int64_t first = (static_cast<int64_t>(row) * target_len + t + shift) * source_len;
      for (const int64_t j : found->second) {
        positions.push_back(first + j);
        shares.push_back(1.0 / static_cast<double>(found->second.size()));
      }
    }
  }
  targets.positions = torch::tensor(positions, torch::kInt64).to(alpha.device());
  targets.shares = torch::tensor(shares, torch::kFloat64).to(alpha.options());
  return targets;
}

Tensor guided_loss(const Tensor& alpha, const GuidedTargets& targets) {
  const Tensor seen = alpha.reshape({-1}).index_select(0, targets.positions);
  return ((seen + kLeastWeight).log() * targets.shares).sum().neg();
}

double guided_weight(const GuidedConfig& config, int64_t update) {
  if (config.half_life == 0) return config.weight;
  return config.weight *
         std::exp2(-static_cast<double>(update) / static_cast<double>(config.half_life));
}

}  // namespace verso
