#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "nn/torch_api.h"

namespace verso {

/// Places of the generic model where a Trace looks, and what is seen there.
enum class Site {
  kForwardState,   ///< [batch, hidden], last encoder layer, once a position from left to right
  kBackwardState,  ///< [batch, hidden], likewise, from each sentence's last position on
  kStates,         ///< [tokens, 2*hidden], h, packed, as the decoder reads them
  kStart,          ///< [batch, hidden], s_0
  kQuery,          ///< [batch, hidden], what attention asks with, once a step
  kEnergy,         ///< [batch, 1, source_len], e_t before positions are masked, once a step
  kAlpha,          ///< [batch, 1, source_len], once a step
  kContext,        ///< [batch, 1, 2*hidden], c_t, once a step
};
inline constexpr std::size_t kSites = 8;

/// Intermediate values of one teacher-forced pass through the generic kernels, for whoever studies
/// its gradients: the model shows each value to see() and goes on with what that gives back.
class Trace {
 public:
  /// Keeps `value`, with the change for this place added, and gives it back.
  Tensor see(Site site, const Tensor& value) {
    std::vector<Tensor>& seen = seen_[static_cast<std::size_t>(site)];
    const std::vector<Tensor>& changes = changes_[static_cast<std::size_t>(site)];
    seen.push_back(seen.size() < changes.size() ? value + changes[seen.size()] : value);
    return seen.back();
  }

  /// What was seen there, in the order of the pass.
  [[nodiscard]] const std::vector<Tensor>& at(Site site) const {
    return seen_[static_cast<std::size_t>(site)];
  }

  /// From now on changes[i] is added to the i-th value seen there.
  void change(Site site, std::vector<Tensor> changes) {
    changes_[static_cast<std::size_t>(site)] = std::move(changes);
  }

 private:
  std::array<std::vector<Tensor>, kSites> seen_, changes_;
};

/// `value` itself where nobody looks.
inline Tensor see(Trace* trace, Site site, const Tensor& value) {
  return trace == nullptr ? value : trace->see(site, value);
}

}  // namespace verso
