#include "config/write.h"

#include <map>

#include "config/problems.h"
#include "config/values.h"

namespace verso {
namespace {

/// Visitor: writes the rows of a section as lines of a JSON object.
template <class S>
class Writer {
 public:
  Writer(std::string& out, const S& section, std::string indent, Comments comments)
      : out_(out), section_(section), indent_(std::move(indent)), comments_(comments) {}

  template <class T, class Rule>
  void operator()(T S::*member, const char* name, const Rule& /*rule*/, const char* help) {
    start_row(name, help);
    out_ += value_text(section_.*member);
  }
  template <Section T>
  void operator()(T S::*member, const char* name, const char* help) {
    start_row(name, help);
    write_object(section_.*member, indent_);
  }
  template <Section T>
  void operator()(std::vector<T> S::*member, const char* name, const char* help) {
    start_row(name, help);
    const std::vector<T>& list = section_.*member;
    const std::string inner = indent_ + "  ";
    out_ += "[";
    for (std::size_t i = 0; i < list.size(); ++i) {
      out_ += (i == 0 ? "\n" : ",\n") + inner;
      write_object(list[i], inner);
    }
    if (list.empty() && comments_ == Comments::kHelp) show_element<T>(inner);
    if (!list.empty() || comments_ == Comments::kHelp) out_ += "\n" + indent_;
    out_ += "]";
  }

  template <Section T>
  void write_object(const T& object, const std::string& outer) {
    out_ += "{\n";
    T::visit_fields(Writer<T>(out_, object, outer + "  ", comments_));
    out_ += "\n" + outer + "}";
  }

 private:
  void start_row(const char* name, const char* help) {
    if (!first_) out_ += ",\n";
    first_ = false;
    if (comments_ == Comments::kHelp) out_ += indent_ + "// " + help + "\n";
    out_ += indent_ + json_quote(name) + ": ";
  }

  template <class T>
  void show_element(const std::string& inner) {
    std::string element;
    Writer<T>(element, T{}, "", Comments::kNone).write_object(T{}, "");
    out_ += "\n" + inner + "// ";
    for (const char c : element) {
      out_ += c;
      if (c == '\n') out_ += inner + "// ";
    }
  }

  std::string& out_;
  const S& section_;
  std::string indent_;
  Comments comments_;
  bool first_ = true;
};

/// Visitor: values with their paths.
template <class S>
struct Flattener {
  const S& section;
  const std::string& path;
  std::vector<std::pair<std::string, std::string>>& values;

  template <class T, class Rule>
  void operator()(T S::*member, const char* name, const Rule& /*rule*/, const char* /*help*/) {
    values.emplace_back(join_path(path, name), value_text(section.*member));
  }
  template <Section T>
  void operator()(T S::*member, const char* name, const char* /*help*/) {
    const std::string inner = join_path(path, name);
    T::visit_fields(Flattener<T>{section.*member, inner, values});
  }
  template <Section T>
  void operator()(std::vector<T> S::*member, const char* name, const char* /*help*/) {
    const std::vector<T>& list = section.*member;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string inner = index_path(join_path(path, name), i);
      T::visit_fields(Flattener<T>{list[i], inner, values});
    }
  }
};

}  // namespace

std::string write_config(const Config& config, Comments comments) {
  std::string out;
  Writer<Config>(out, config, "", comments).write_object(config, "");
  return out += '\n';
}

std::vector<std::pair<std::string, std::string>> flatten(const Config& config) {
  std::vector<std::pair<std::string, std::string>> values;
  const std::string top;
  Config::visit_fields(Flattener<Config>{config, top, values});
  return values;
}

std::vector<ConfigDifference> differences(const Config& first, const Config& second) {
  const auto first_values = flatten(first);
  const auto second_values = flatten(second);
  const std::map<std::string, std::string> in_first(first_values.begin(), first_values.end());
  const std::map<std::string, std::string> in_second(second_values.begin(), second_values.end());
  std::vector<ConfigDifference> found;
  for (const auto& [path, value] : first_values) {
    const auto other = in_second.find(path);
    if (other == in_second.end()) {
      found.push_back({path, value, ""});
    } else if (other->second != value) {
      found.push_back({path, value, other->second});
    }
  }
  for (const auto& [path, value] : second_values) {
    if (!in_first.contains(path)) found.push_back({path, "", value});
  }
  return found;
}

}  // namespace verso
