#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "train/attention_gradients.h"
#include "train/studied_pair.h"

namespace verso {

namespace {

/// With an error of h^4 and rounding of 1e-16 L / h, both are near 1e-11 here.
constexpr double kStep = 1e-3;
constexpr std::size_t kLargest = 12, kPicked = 12;

/// Entries of `gradient` worth a look: the largest, and some that are drawn.
std::vector<std::int64_t> entries_of(const Tensor& gradient, Random& random) {
  const Tensor flat = gradient.abs().flatten();
  std::vector<std::int64_t> order(static_cast<std::size_t>(flat.numel()));
  std::iota(order.begin(), order.end(), 0);
  const double* size = flat.data_ptr<double>();
  const std::size_t largest = std::min(kLargest, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(largest),
                    order.end(), [&](auto a, auto b) { return size[a] > size[b]; });
  order.resize(largest);
  for (std::size_t i = 0; i < kPicked; ++i) {
    order.push_back(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(flat.numel()))));
  }
  return order;
}

class Differences {
 public:
  Differences(const Studied& studied, const StudiedPair& pair, std::uint64_t seed)
      : studied_(studied), pair_(pair), random_(seed) {}

  /// Entry (row, column) of `expected` is the derivative by that column of the row-th value seen at
  /// `site`; where all rows are seen as one value, of its entry (row, column).
  void at_site(const char* name, Site site, const Tensor& expected) {
    const std::vector<Tensor> seen = shapes(site);
    compare(name, expected, [&](std::int64_t entry, double change) {
      std::vector<Tensor> changes;
      for (const Tensor& value : seen) changes.push_back(at::zeros_like(value));
      const std::int64_t each = changes[0].numel();
      changes[static_cast<std::size_t>(entry / each)].view(-1)[entry % each] = change;
      Trace trace;
      trace.change(site, changes);
      return pair_.loss(studied_, trace).item<double>();
    });
  }

  void of_parameter(const char* name, const char* parameter, const Tensor& expected) {
    Tensor value = studied_.parameter(parameter).view(-1);
    compare(name, expected, [&](std::int64_t entry, double change) {
      const double before = value[entry].item<double>();
      value[entry] = before + change;
      Trace trace;
      const double loss = pair_.loss(studied_, trace).item<double>();
      value[entry] = before;
      return loss;
    });
  }

  [[nodiscard]] std::vector<Difference> take() { return std::move(found_); }

 private:
  std::vector<Tensor> shapes(Site site) const {
    Trace trace;
    static_cast<void>(pair_.loss(studied_, trace));
    return trace.at(site);
  }

  template <class LossAt>
  void compare(const char* name, const Tensor& expected, const LossAt& loss_at) {
    const Tensor flat = expected.contiguous().view(-1);
    double largest = 0;
    for (const std::int64_t entry : entries_of(expected, random_)) {
      const double near = loss_at(entry, kStep) - loss_at(entry, -kStep);
      const double far = loss_at(entry, 2 * kStep) - loss_at(entry, -2 * kStep);
      const double slope = (8 * near - far) / (12 * kStep);
      largest = std::max(largest, std::abs(slope - flat[entry].item<double>()));
    }
    const double size = flat.abs().max().item<double>();
    found_.push_back({name, size > 0 ? largest / size : largest});
  }

  const Studied& studied_;
  const StudiedPair& pair_;
  Random random_;
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> finite_differences(Seq2Seq& network, std::span<const std::int32_t> source,
                                           std::span<const std::int32_t> target,
                                           const AttentionGradients& found, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  const Studied studied(network);
  TORCH_INTERNAL_ASSERT(studied.parameter("output_bias").scalar_type() == torch::kDouble,
                        "finite differences need double");
  const StudiedPair pair(studied, source, target);
  Differences differences(studied, pair, seed);
  differences.at_site("dL/dalpha", Site::kAlpha, found.g);
  differences.at_site("dL/de", Site::kEnergy, found.energy);
  differences.at_site("dL/dc", Site::kContext, found.context);
  differences.at_site("dL/dh without recurrence", Site::kStates,
                      found.value_path + found.key_path + found.start_path);
  const auto halves = found.states.chunk(2, 1);
  differences.at_site("dL/dh, forward", Site::kForwardState, halves[0]);
  differences.at_site("dL/dh, backward", Site::kBackwardState, halves[1].flip(0));
  differences.of_parameter("dL/dv", "decoder.attention.energy", found.v);
  differences.of_parameter("dL/dW", "decoder.attention.query.weight", found.query_weight);
  differences.of_parameter("dL/dU", "decoder.attention.key.weight", found.key_weight);
  differences.of_parameter("dL/db", "decoder.attention.key.bias", found.key_bias);
  return differences.take();
}

}  // namespace verso
