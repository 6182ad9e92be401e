#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace verso {

/// Applies "key=value" texts (--set) in order. Keys are dotted paths: model.hidden,
/// data.train[0].source (or data.train.0.source; the index after the last adds an element). Text
/// needs no quotes, may have JSON's; sections and lists are given as JSON. Throws ConfigError with
/// every problem, naming key, value found, value expected; `config` is then as it was.
void apply_overrides(Config& config, const std::vector<std::string>& overrides);

}  // namespace verso
