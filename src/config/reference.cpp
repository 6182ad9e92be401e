#include "config/reference.h"

#include <map>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "config/problems.h"
#include "config/values.h"

namespace verso {
namespace {

constexpr const char* kIntroduction =
    R"(# Reference of the configuration

Made by `verso config reference`; do not edit.

A configuration is a JSON object; `//` and `/* */` comments are allowed. Keys that are left out have
their defaults, so `{}` is a good start; `output` and `data.train` are what training cannot do
without. On the command line, `--set model.hidden=512` or `--set data.train[0].source=train.de`
changes a key. `verso config check FILE` looks at a configuration and its data without training.
)";

std::string type_name(std::int64_t /*member*/) { return "integer"; }
std::string type_name(double /*member*/) { return "number"; }
std::string type_name(bool /*member*/) { return "flag"; }
std::string type_name(const std::string& /*member*/) { return "text"; }
template <class E>
requires std::is_enum_v<E> std::string type_name(E /*member*/) { return "choice"; }

/// Range or choices as a table cell.
template <class T, class Rule>
std::string range_cell(const T& /*member*/, const Rule& rule) {
  constexpr std::string_view kFrom = " from ";
  const std::string text = expected(rule);
  return text.substr(text.find(kFrom) + kFrom.size());
}
std::string range_cell(const std::string& /*member*/, AnyText /*rule*/) { return ""; }
std::string range_cell(bool /*member*/, Flag rule) { return expected(rule); }
template <class E>
std::string range_cell(E /*member*/, OneOf /*rule*/) {
  std::string cell;
  for (const std::string& name : choices<E>())
    cell += cat(cell.empty() ? "" : ", ", "`", name, "`");
  return cell;
}

std::string sentence(std::string help) {
  if (help.front() >= 'a' && help.front() <= 'z') help.front() += 'A' - 'a';
  return help + ".";
}

/// Makes the page: sections in the order of their rows, those inside others after them.
class Page {
 public:
  template <Section S>
  void add_section(const std::string& path, const S& defaults, const std::string& help) {
    const auto [first, is_new] = printed_.emplace(std::type_index(typeid(S)), path);
    text_ += cat("\n## ", path.empty() ? "Top level" : "`" + path + "`", "\n\n");
    if (!help.empty()) text_ += cat(sentence(help), "\n\n");
    if (!is_new) {
      text_ += cat("The same keys as `", first->second, "`.\n");
      return;
    }
    text_ += "| key | type | default | range | meaning |\n|---|---|---|---|---|\n";
    S::visit_fields(Rows<S>{*this, path, defaults});
    S::visit_fields(Inner<S>{*this, path, defaults});
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class S>
  struct Rows {
    Page& page;
    const std::string& path;
    const S& defaults;

    template <class T, class Rule>
    void operator()(T S::*member, const char* name, const Rule& rule, const char* help) const {
      const T& value = defaults.*member;
      page.add_row(name, type_name(value), cat("`", value_text(value), "`"),
                   range_cell(value, rule), help);
    }
    template <Section T>
    void operator()(T S::* /*member*/, const char* name, const char* help) const {
      page.add_row(name, "object", "", "", cat(help, "; see below"));
    }
    template <Section T>
    void operator()(std::vector<T> S::* /*member*/, const char* name, const char* help) const {
      page.add_row(name, "list of objects", "`[]`", "", cat(help, "; see below"));
    }
  };

  template <class S>
  struct Inner {
    Page& page;
    const std::string& path;
    const S& defaults;

    template <class T, class Rule>
    void operator()(T S::* /*member*/, const char* /*name*/, const Rule& /*rule*/,
                    const char* /*help*/) const {}
    template <Section T>
    void operator()(T S::*member, const char* name, const char* help) const {
      page.add_section(join_path(path, name), defaults.*member, help);
    }
    template <Section T>
    void operator()(std::vector<T> S::* /*member*/, const char* name, const char* help) const {
      page.add_section(join_path(path, name) + "[]", T{}, help);
    }
  };

  void add_row(const char* name, const std::string& type, const std::string& value,
               const std::string& range, const std::string& help) {
    text_ += cat("| `", name, "` | ", type, " | ", value, " | ", range, " | ", help, " |\n");
  }

  std::string text_ = kIntroduction;
  std::map<std::type_index, std::string> printed_;
};

}  // namespace

std::string config_reference() {
  Page page;
  page.add_section("", Config{}, "");
  return page.text();
}

}  // namespace verso
