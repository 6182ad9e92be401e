#pragma once

#include <string>

namespace verso {

/// JSON Schema (draft 2020-12) of the configuration, for editors and other programs: types, ranges,
/// choices, defaults and help of every key; unknown keys are not allowed.
[[nodiscard]] std::string config_schema();

}  // namespace verso
