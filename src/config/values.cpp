#include "config/values.h"

#include <cmath>

#include "base/text.h"

namespace verso {
namespace {

std::string mismatch(const JsonNode& node, const std::string& expectation) {
  return cat("found ", describe(node), ", expected ", expectation);
}

/// `value` as people write it: "0.95", "1e38", "0".
std::string plain(double value) {
  std::string text = json_number(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

bool is_number(const JsonNode& node) {
  return node.kind == JsonNode::Kind::kInteger || node.kind == JsonNode::Kind::kReal;
}

}  // namespace

std::string value_text(bool value) { return value ? "true" : "false"; }
std::string value_text(std::int64_t value) { return std::to_string(value); }
std::string value_text(double value) { return json_number(value); }
std::string value_text(const std::string& value) { return json_quote(value); }

std::string expected(const IntegerRange& rule) {
  return cat("an integer from ", rule.low, " to ", rule.high);
}
std::string expected(const RealRange& rule) {
  return cat("a number from ", plain(rule.low), " to ", plain(rule.high));
}
std::string expected(AnyText /*rule*/) { return "text"; }
std::string expected(Flag /*rule*/) { return "true or false"; }
std::string expected_choice(const std::vector<std::string>& choices) {
  std::string text = "one of ";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += ", ";
    text += json_quote(choices[i]);
  }
  return text;
}

std::string take_value(bool& value, Flag rule, const JsonNode& node) {
  if (node.kind != JsonNode::Kind::kFlag) return mismatch(node, expected(rule));
  value = node.flag;
  return {};
}

std::string take_value(std::int64_t& value, const IntegerRange& rule, const JsonNode& node) {
  constexpr double kExact = 9007199254740992.0;  // integers up to here are exact in a double
  std::int64_t integer = node.integer;
  if (node.kind == JsonNode::Kind::kReal) {
    if (std::trunc(node.real) != node.real || std::abs(node.real) > kExact) {
      return mismatch(node, expected(rule));
    }
    integer = static_cast<std::int64_t>(node.real);
  } else if (node.kind != JsonNode::Kind::kInteger) {
    return mismatch(node, expected(rule));
  }
  if (integer < rule.low || integer > rule.high) return mismatch(node, expected(rule));
  value = integer;
  return {};
}

std::string take_value(double& value, const RealRange& rule, const JsonNode& node) {
  if (!is_number(node) || !(node.real >= rule.low && node.real <= rule.high)) {
    return mismatch(node, expected(rule));
  }
  value = node.real;
  return {};
}

std::string take_value(std::string& value, AnyText rule, const JsonNode& node) {
  if (node.kind != JsonNode::Kind::kText) return mismatch(node, expected(rule));
  if (node.text.find('\0') != std::string::npos) return mismatch(node, "text without \\u0000");
  value = node.text;
  return {};
}

std::optional<std::size_t> take_choice(const std::vector<std::string>& choices,
                                       const JsonNode& node, std::string& problem) {
  if (node.kind == JsonNode::Kind::kText) {
    for (std::size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] == node.text) return i;
    }
  }
  problem = mismatch(node, expected_choice(choices));
  if (const std::string nearest = nearest_name(node.text, choices); !nearest.empty()) {
    problem += cat("; did you mean ", json_quote(nearest), "?");
  }
  return std::nullopt;
}

}  // namespace verso
