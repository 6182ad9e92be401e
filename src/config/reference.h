#pragma once

#include <string>

namespace verso {

/// The reference page of the configuration (Markdown): a table a section with key, type, default,
/// range and meaning. Kept as configs/REFERENCE.md.
[[nodiscard]] std::string config_reference();

}  // namespace verso
