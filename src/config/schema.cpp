#include "config/schema.h"

#include <nlohmann/json.hpp>

#include "config/config.h"
#include "config/values.h"

namespace verso {
namespace {

using nlohmann::ordered_json;

ordered_json describe_rule(const IntegerRange& rule, std::int64_t /*member*/) {
  return {{"type", "integer"}, {"minimum", rule.low}, {"maximum", rule.high}};
}
ordered_json describe_rule(const RealRange& rule, double /*member*/) {
  return {{"type", "number"}, {"minimum", rule.low}, {"maximum", rule.high}};
}
ordered_json describe_rule(AnyText /*rule*/, const std::string& /*member*/) {
  return {{"type", "string"}};
}
ordered_json describe_rule(Flag /*rule*/, bool /*member*/) { return {{"type", "boolean"}}; }
template <class E>
ordered_json describe_rule(OneOf /*rule*/, E /*member*/) {
  return {{"type", "string"}, {"enum", choices<E>()}};
}

template <Section S>
ordered_json section_schema(const S& defaults);

/// Visitor: one property a row.
template <class S>
struct SchemaVisitor {
  const S& defaults;
  ordered_json& properties;

  template <class T, class Rule>
  void operator()(T S::*member, const char* name, const Rule& rule, const char* help) const {
    ordered_json property = describe_rule(rule, defaults.*member);
    property["default"] = ordered_json::parse(value_text(defaults.*member));
    property["description"] = help;
    properties[name] = std::move(property);
  }
  template <Section T>
  void operator()(T S::*member, const char* name, const char* help) const {
    properties[name] = section_schema(defaults.*member);
    properties[name]["description"] = help;
  }
  template <Section T>
  void operator()(std::vector<T> S::* /*member*/, const char* name, const char* help) const {
    properties[name] = {{"type", "array"}, {"items", section_schema(T{})}, {"description", help}};
  }
};

template <Section S>
ordered_json section_schema(const S& defaults) {
  ordered_json properties = ordered_json::object();
  S::visit_fields(SchemaVisitor<S>{defaults, properties});
  return {{"type", "object"}, {"additionalProperties", false}, {"properties", properties}};
}

}  // namespace

std::string config_schema() {
  ordered_json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                         {"title", "Verso configuration"}};
  schema.update(section_schema(Config{}));
  return schema.dump(2) + "\n";
}

}  // namespace verso
