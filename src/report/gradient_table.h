#pragma once

#include <string>
#include <vector>

#include "train/gradient_record.h"

namespace verso {

/// A pair's gradients for people at a terminal: loss, entropy and norms; a line for each source
/// token with |dL/dh_j| and the share of each path; tables of alpha, g and the advantage with a
/// line for each target token, its |dL/dc_t| in front. Lines ended.
[[nodiscard]] std::string gradient_table(const GradientRecord& record);

/// "largest relative difference from autograd 2.1e-15 (dL/dU)".
[[nodiscard]] std::string largest_difference(const std::vector<Difference>& differences,
                                             const std::string& from);

}  // namespace verso
