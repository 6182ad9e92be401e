#pragma once

#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace verso {

/// `config` as JSON with every key; parse_config() gives an equal configuration back. With
/// comments: each key has its help above it, and empty lists show what an element would hold.
enum class Comments { kNone, kHelp };
[[nodiscard]] std::string write_config(const Config& config, Comments comments = Comments::kNone);

/// Every value as (path, JSON text): ("data.train[0].source", "\"train.de\"").
[[nodiscard]] std::vector<std::pair<std::string, std::string>> flatten(const Config& config);

/// A key that two configurations give different values; a value that one of them lacks (an element
/// of a list) is "".
struct ConfigDifference {
  std::string path, first, second;
};
[[nodiscard]] std::vector<ConfigDifference> differences(const Config& first, const Config& second);

}  // namespace verso
