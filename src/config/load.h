#pragma once

#include <string>
#include <string_view>

#include "config/config.h"

namespace verso {

/// The configuration in a file: JSON with // and /* */ comments; keys that are not there keep their
/// defaults. Throws ConfigError with every problem of the file, each as "path:line: key: found X,
/// expected Y" (unknown keys with the nearest known one). Contradictions between keys are not
/// looked for: see find_contradictions().
[[nodiscard]] Config load_config(const std::string& path);

/// The same from text; `where` stands for the path in messages.
[[nodiscard]] Config parse_config(std::string_view text, const std::string& where);

}  // namespace verso
