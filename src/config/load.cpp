#include "config/load.h"

#include "base/error.h"
#include "base/files.h"
#include "config/section_reader.h"

namespace verso {

Config load_config(const std::string& path) {
  constexpr std::size_t kLargest = std::size_t{1} << 20;
  std::string text;
  try {
    text = read_file(path, kLargest);
  } catch (const DataError& problem) {
    throw ConfigError(problem.what());
  }
  return parse_config(text, path);
}

Config parse_config(std::string_view text, const std::string& where) {
  const JsonNode root = parse_json(text, where);
  Config config;
  Problems problems;
  SectionReader(where, problems).read_section(config, root, "");
  problems.throw_if_any();
  return config;
}

}  // namespace verso
