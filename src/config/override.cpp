#include "config/override.h"

#include <charconv>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "config/section_reader.h"

namespace verso {
namespace {

std::optional<JsonNode> try_parse(const std::string& text) {
  try {
    JsonNode node = parse_json(text, "value");
    node.line = 0;
    return node;
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

/// `value` as JSON when it is JSON, else as text, which then fails with a message of its type.
JsonNode as_json(const std::string& value) {
  if (auto node = try_parse(value)) return *node;
  JsonNode text;
  text.kind = JsonNode::Kind::kText;
  text.text = value;
  return text;
}

/// `value` as text: quotes may be there or not.
JsonNode as_text(const std::string& value) {
  if (value.starts_with('"')) {
    if (auto node = try_parse(value)) return *node;
  }
  JsonNode text;
  text.kind = JsonNode::Kind::kText;
  text.text = value;
  return text;
}

template <class Rule>
JsonNode node_for(const Rule& /*rule*/, const std::string& value) {
  return as_json(value);
}
JsonNode node_for(AnyText /*rule*/, const std::string& value) { return as_text(value); }
JsonNode node_for(OneOf /*rule*/, const std::string& value) { return as_text(value); }

/// "data.train[0].source" as its parts; empty parts stay and are unknown keys later.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    const bool index_ends = c == ']' && (i + 1 == path.size() || path[i + 1] == '.');
    if (index_ends) continue;
    if (c == '.' || c == '[') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::optional<std::size_t> parse_index(const std::string& text) {
  std::size_t index = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, index);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return index;
}

/// Walks from a section down to what the path names and reads the value there.
class Override {
 public:
  Override(const std::string& where, const std::string& value, Problems& problems)
      : value_(value), reader_(where, problems) {}

  template <Section S>
  void set_in(S& section, std::span<const std::string> parts, const std::string& path) {
    if (parts.empty()) {
      reader_.read_section(section, lineless(as_json(value_)), path);
      return;
    }
    Visitor<S> visitor{*this, section, parts, path};
    S::visit_fields(visitor);
    if (!visitor.found) reader_.report(0, "", unknown_key(path, parts.front(), row_names<S>()));
  }

 private:
  template <class S>
  struct Visitor {
    Override& parent;
    S& section;
    std::span<const std::string> parts;
    const std::string& path;
    bool found = false;

    template <class T, class Rule>
    void operator()(T S::*member, const char* name, const Rule& rule, const char* /*help*/) {
      if (!is(name)) return;
      const std::string full = join_path(path, name);
      if (parts.size() > 1) {
        parent.reader_.report(0, full, "this is a single value, there are no keys below it");
      } else {
        parent.reader_.read_value(section.*member, rule, node_for(rule, parent.value_), full);
      }
    }
    template <Section T>
    void operator()(T S::*member, const char* name, const char* /*help*/) {
      if (is(name)) parent.set_in(section.*member, parts.subspan(1), join_path(path, name));
    }
    template <Section T>
    void operator()(std::vector<T> S::*member, const char* name, const char* /*help*/) {
      if (is(name)) parent.set_in_list(section.*member, parts.subspan(1), join_path(path, name));
    }

    bool is(const char* name) {
      const bool same = parts.front() == name;
      found = found || same;
      return same;
    }
  };

  template <Section S>
  void set_in_list(std::vector<S>& list, std::span<const std::string> parts,
                   const std::string& path) {
    if (parts.empty()) {
      reader_.read_list(list, lineless(as_json(value_)), path);
      return;
    }
    const auto index = parse_index(parts.front());
    if (!index) {
      reader_.report(0, path,
                     cat("found ", quote_briefly(parts.front()),
                         ", expected an index: this is a "
                         "list, ",
                         index_path(path, 0), " is its first element"));
      return;
    }
    if (*index > list.size()) {
      reader_.report(0, path,
                     cat("found index ", *index, ", expected at most ", list.size(),
                         ", which adds "
                         "an element to the ",
                         list.size(), " that are there"));
      return;
    }
    if (*index == list.size()) list.emplace_back();
    set_in(list[*index], parts.subspan(1), index_path(path, *index));
  }

  /// Lines inside a value mean nothing to the user.
  static JsonNode lineless(JsonNode node) {
    node.line = 0;
    for (JsonNode::Key& key : node.keys) key.line = 0;
    for (JsonNode& child : node.children) child = lineless(std::move(child));
    return node;
  }

  const std::string& value_;
  SectionReader reader_;
};

void apply_one(Config& config, const std::string& text, Problems& problems) {
  const std::string where = cat("--set ", quote_briefly(text));
  if (find_invalid_utf8(text)) {
    problems.add(where, 0, "not valid UTF-8");
    return;
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    problems.add(where, 0, "expected key=value, as in model.hidden=256");
    return;
  }
  const std::vector<std::string> parts = split_path(std::string_view(text).substr(0, equals));
  const std::string value = text.substr(equals + 1);
  Override(where, value, problems).set_in(config, parts, "");
}

}  // namespace

void apply_overrides(Config& config, const std::vector<std::string>& overrides) {
  Config changed = config;
  Problems problems;
  for (const std::string& text : overrides) apply_one(changed, text, problems);
  problems.throw_if_any();
  config = std::move(changed);
}

}  // namespace verso
