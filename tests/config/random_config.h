#pragma once

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "config/config.h"

namespace verso::testing_support {

/// Visitor: gives every value of a section a random one that its rule allows.
template <class S>
struct Randomize {
  S& section;

  template <class T, class Rule>
  void operator()(T S::*member, const char*, const Rule& rule, const char*) const {
    section.*member = draw(rule, section.*member);
  }
  template <Section T>
  void operator()(T S::*member, const char*, const char*) const {
    T::visit_fields(Randomize<T>{section.*member});
  }
  template <Section T>
  void operator()(std::vector<T> S::*member, const char*, const char*) const {
    (section.*member).resize(*rc::gen::inRange<std::size_t>(0, 4));
    for (T& element : section.*member) T::visit_fields(Randomize<T>{element});
  }

  static std::int64_t draw(const IntegerRange& rule, std::int64_t) {
    return *rc::gen::inRange<std::int64_t>(rule.low, rule.high + 1);
  }
  static double draw(const RealRange& rule, double) {
    const auto share = static_cast<double>(*rc::gen::inRange<std::int64_t>(0, 1'000'000'001)) / 1e9;
    return std::min(rule.high, rule.low + share * (rule.high - rule.low));
  }
  static std::string draw(AnyText, const std::string&) {
    std::string text = replace_invalid_utf8(*rc::gen::arbitrary<std::string>());
    std::erase(text, '\0');
    return text;
  }
  static bool draw(Flag, bool) { return *rc::gen::arbitrary<bool>(); }
  template <class E>
  static E draw(OneOf, E) {
    return enum_names<E>[*rc::gen::inRange<std::size_t>(0, enum_names<E>.size())].first;
  }
};

inline Config random_config() {
  Config config;
  Config::visit_fields(Randomize<Config>{config});
  return config;
}

}  // namespace verso::testing_support
