#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "config/problems.h"
#include "config/values.h"

namespace verso {

/// The names of a section's rows.
template <Section S>
[[nodiscard]] std::vector<std::string> row_names() {
  std::vector<std::string> names;
  S::visit_fields([&](auto /*member*/, const char* name, const auto&... /*rest*/) {
    names.emplace_back(name);
  });
  return names;
}

/// Reads JSON objects into sections: keys that are there replace the members' values; every problem
/// is added to `problems` and reading goes on.
class SectionReader {
 public:
  /// `where` names the file (or command-line option) in messages.
  SectionReader(std::string where, Problems& problems)
      : where_(std::move(where)), problems_(problems) {}

  template <Section S>
  void read_section(S& section, const JsonNode& node, const std::string& path) {
    if (node.kind != JsonNode::Kind::kObject) {
      report(node.line, path, cat("found ", describe(node), ", expected an object"));
      return;
    }
    check_keys(node, path, row_names<S>());
    S::visit_fields(Visitor<S>{*this, section, node, path});
  }

  /// Replaces the list.
  template <Section S>
  void read_list(std::vector<S>& list, const JsonNode& node, const std::string& path) {
    if (node.kind != JsonNode::Kind::kList) {
      report(node.line, path, cat("found ", describe(node), ", expected a list of objects"));
      return;
    }
    list.assign(node.children.size(), S{});
    for (std::size_t i = 0; i < list.size(); ++i) {
      read_section(list[i], node.children[i], index_path(path, i));
    }
  }

  template <class T, class Rule>
  void read_value(T& value, const Rule& rule, const JsonNode& node, const std::string& path) {
    const std::string problem = take_value(value, rule, node);
    if (!problem.empty()) report(node.line, path, problem);
  }

  /// Adds a problem with the value at `path` ("": the whole).
  void report(std::int64_t line, const std::string& path, const std::string& message) {
    problems_.add(where_, line, path.empty() ? message : cat(path, ": ", message));
  }

 private:
  template <class S>
  struct Visitor {
    SectionReader& reader;
    S& section;
    const JsonNode& node;
    const std::string& path;

    template <class T, class Rule>
    void operator()(T S::*member, const char* name, const Rule& rule, const char* /*help*/) const {
      if (const JsonNode* value = find(name)) {
        reader.read_value(section.*member, rule, *value, join_path(path, name));
      }
    }
    template <Section T>
    void operator()(T S::*member, const char* name, const char* /*help*/) const {
      if (const JsonNode* value = find(name)) {
        reader.read_section(section.*member, *value, join_path(path, name));
      }
    }
    template <Section T>
    void operator()(std::vector<T> S::*member, const char* name, const char* /*help*/) const {
      if (const JsonNode* value = find(name)) {
        reader.read_list(section.*member, *value, join_path(path, name));
      }
    }

    [[nodiscard]] const JsonNode* find(const char* name) const {
      for (std::size_t i = 0; i < node.keys.size(); ++i) {
        if (node.keys[i].name == name) return &node.children[i];
      }
      return nullptr;
    }
  };

  /// Reports unknown and repeated keys.
  void check_keys(const JsonNode& node, const std::string& path,
                  const std::vector<std::string>& known);

  std::string where_;
  Problems& problems_;
};

}  // namespace verso
