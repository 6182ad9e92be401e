#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// How a configuration is declared. A section is a plain struct whose members hold the defaults and
/// whose visit_fields(v) names each member once, in one of two row forms:
///   v(&S::member, "name", rule, "help")   a value: text, flag, enum, integer or real number
///   v(&S::member, "name", "help")         a section, or a list (std::vector) of sections
/// Everything that reads, writes or describes configurations is a visitor of these rows: an object
/// with a template operator() for each form. No other code names a field by a string.
namespace verso {

/// The texts of an enum's values; specialise enum_names<E> beside the enum.
template <class E, std::size_t N>
using EnumNames = std::array<std::pair<E, std::string_view>, N>;

template <class E>
inline constexpr EnumNames<E, 0> enum_names{};

/// The text of `value`; "" for a value outside of the enum.
template <class E>
[[nodiscard]] constexpr std::string_view enum_name(E value) {
  for (const auto& [candidate, name] : enum_names<E>) {
    if (candidate == value) return name;
  }
  return {};
}

/// Rules: what a row allows. Limits are inclusive.
struct IntegerRange {
  std::int64_t low, high;
};
struct RealRange {
  double low, high;
};
struct AnyText {};
struct Flag {};
struct OneOf {};

template <std::integral Low, std::integral High>
[[nodiscard]] constexpr IntegerRange range(Low low, High high) {
  return {low, high};
}
[[nodiscard]] constexpr RealRange range(double low, double high) { return {low, high}; }
/// Any text without NUL (paths).
[[nodiscard]] constexpr AnyText any_text() { return {}; }
/// true or false.
[[nodiscard]] constexpr Flag flag() { return {}; }
/// One of the texts of the member's enum.
[[nodiscard]] constexpr OneOf one_of() { return {}; }

/// A struct with rows.
template <class T>
concept Section = requires {
  T::visit_fields([](auto&&...) {});
};

template <class T>
inline constexpr bool is_section_list = false;
template <Section T>
inline constexpr bool is_section_list<std::vector<T>> = true;

}  // namespace verso
