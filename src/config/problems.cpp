#include "config/problems.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "config/config.h"
#include "config/json_tree.h"

namespace verso {
namespace {

/// Visitor: the paths of all values; elements of lists as [0].
struct PathCollector {
  std::string section;
  std::vector<std::string>& paths;

  template <class S, class T, class Rule>
  void operator()(T S::* /*member*/, const char* name, const Rule& /*rule*/, const char* /*help*/) {
    paths.push_back(join_path(section, name));
  }
  template <class S, Section T>
  void operator()(T S::* /*member*/, const char* name, const char* /*help*/) {
    T::visit_fields(PathCollector{join_path(section, name), paths});
  }
  template <class S, Section T>
  void operator()(std::vector<T> S::* /*member*/, const char* name, const char* /*help*/) {
    T::visit_fields(PathCollector{index_path(join_path(section, name), 0), paths});
  }
};

/// The path of a value that is called `name` or nearly so, wherever it is, or "".
std::string path_of_value(const std::string& name) {
  std::vector<std::string> paths;
  Config::visit_fields(PathCollector{"", paths});
  std::vector<std::string> last_parts;
  for (const std::string& path : paths) last_parts.push_back(path.substr(path.rfind('.') + 1));
  const std::string meant = nearest_name(name, last_parts);
  const auto found = std::find(last_parts.begin(), last_parts.end(), meant);
  if (found == last_parts.end()) return {};
  return paths[static_cast<std::size_t>(found - last_parts.begin())];
}

}  // namespace

void Problems::add(const std::string& where, std::int64_t line, const std::string& message) {
  ++count_;
  if (full()) return;
  messages_.emplace_back(
      line, line > 0 ? cat(where, ":", line, ": ", message) : cat(where, ": ", message));
}

void Problems::throw_if_any() const {
  if (empty()) return;
  auto in_order = messages_;
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [line, message] : in_order) {
    if (!text.empty()) text += '\n';
    text += message;
  }
  if (count_ > messages_.size()) text += cat("\nand ", count_ - messages_.size(), " more problems");
  throw ConfigError(text);
}

std::string unknown_key(const std::string& section, const std::string& name,
                        const std::vector<std::string>& siblings) {
  const std::string start = cat("unknown key ", quote_briefly(join_path(section, name)));
  std::string meant = nearest_name(name, siblings);
  meant = meant.empty() ? path_of_value(name) : join_path(section, meant);
  if (!meant.empty()) return cat(start, "; did you mean ", meant, "?");
  std::string known;
  for (const std::string& sibling : siblings) known += (known.empty() ? "" : ", ") + sibling;
  return cat(start, "; known ", section.empty() ? "keys" : "keys here", ": ", known);
}

std::string join_path(const std::string& section, const std::string& name) {
  return section.empty() ? name : cat(section, ".", name);
}

std::string index_path(const std::string& list, std::size_t index) {
  return cat(list, "[", index, "]");
}

}  // namespace verso
