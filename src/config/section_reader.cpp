#include "config/section_reader.h"

#include <algorithm>
#include <map>

namespace verso {

void SectionReader::check_keys(const JsonNode& node, const std::string& path,
                               const std::vector<std::string>& known) {
  std::map<std::string, std::int64_t> first_line;
  for (const JsonNode::Key& key : node.keys) {
    const auto [first, is_new] = first_line.emplace(key.name, key.line);
    if (std::find(known.begin(), known.end(), key.name) == known.end()) {
      problems_.add(where_, key.line, problems_.full() ? "" : unknown_key(path, key.name, known));
    } else if (!is_new) {
      report(key.line, join_path(path, key.name),
             cat("given twice, first in line ", first->second, "; keep one"));
    }
  }
}

}  // namespace verso
