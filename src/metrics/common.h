#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// What stands for the program and its version in the signature of a score. The text is that of the
/// first release with these scores; it changes only when a score can.
inline constexpr std::string_view kMetricsVersion = "verso-0.1.0";

/// Throws DataError unless there is a set of references and each has as many lines as there are
/// hypotheses.
void check_references(std::size_t hypotheses,
                      const std::vector<std::vector<std::string>>& references);

}  // namespace verso
