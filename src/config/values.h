#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/fields.h"
#include "config/json_tree.h"

/// Single values of a configuration: as JSON text, from JSON, and what a rule expects of them. What
/// the visitors share.
namespace verso {

/// `value` as JSON.
[[nodiscard]] std::string value_text(bool value);
[[nodiscard]] std::string value_text(std::int64_t value);
[[nodiscard]] std::string value_text(double value);
[[nodiscard]] std::string value_text(const std::string& value);
template <class E>
requires std::is_enum_v<E>
[[nodiscard]] std::string value_text(E value) { return json_quote(enum_name(value)); }

/// The texts of enum E, in the order of its table.
template <class E>
[[nodiscard]] std::vector<std::string> choices() {
  std::vector<std::string> names;
  for (const auto& entry : enum_names<E>) names.emplace_back(entry.second);
  return names;
}

/// What a rule expects, for messages: "an integer from 1 to 8192".
[[nodiscard]] std::string expected(const IntegerRange& rule);
[[nodiscard]] std::string expected(const RealRange& rule);
[[nodiscard]] std::string expected(AnyText rule);
[[nodiscard]] std::string expected(Flag rule);
[[nodiscard]] std::string expected_choice(const std::vector<std::string>& choices);

/// Takes the value of `node` when the rule allows it: "" then, else what is wrong
/// (`found "five", expected an integer from 0 to 1024`) with `value` as it was. A number that is
/// written with a point or exponent is an integer when it has no fraction, as in JSON Schema.
[[nodiscard]] std::string take_value(bool& value, Flag rule, const JsonNode& node);
[[nodiscard]] std::string take_value(std::int64_t& value, const IntegerRange& rule,
                                     const JsonNode& node);
[[nodiscard]] std::string take_value(double& value, const RealRange& rule, const JsonNode& node);
[[nodiscard]] std::string take_value(std::string& value, AnyText rule, const JsonNode& node);
/// The number of the choice that `node` names, or nothing with `problem` set.
[[nodiscard]] std::optional<std::size_t> take_choice(const std::vector<std::string>& choices,
                                                     const JsonNode& node, std::string& problem);
template <class E>
[[nodiscard]] std::string take_value(E& value, OneOf /*rule*/, const JsonNode& node) {
  std::string problem;
  if (const auto choice = take_choice(choices<E>(), node, problem)) {
    value = enum_names<E>[*choice].first;
  }
  return problem;
}

}  // namespace verso
