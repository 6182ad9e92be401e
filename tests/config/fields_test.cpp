#include "config/fields.h"

#include <gtest/gtest.h>

#include <set>

#include "config/config.h"
#include "config/values.h"

namespace verso {
namespace {

/// Stands for any member's value, so that the members of an aggregate can be counted.
struct Anything {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <class S, class... Values>
constexpr std::size_t count_members(Values... values) {
  if constexpr (requires { S{values..., Anything{}}; }) {
    return count_members<S>(values..., Anything{});
  } else {
    return sizeof...(values);
  }
}

/// Visitor: checks each row of a section and goes on into inner sections.
template <class S>
struct RowChecker {
  const S& defaults;
  std::size_t rows{};
  std::set<std::string> names{};

  static void check(const S& defaults) {
    RowChecker checker{defaults};
    S::visit_fields(checker);
    EXPECT_EQ(checker.rows, count_members<S>()) << "a member without a row, or a row too many, "
                                                << "beside " << *checker.names.begin();
  }

  template <class T, class Rule>
  void operator()(T S::*member, const char* name, const Rule& rule, const char* help) {
    check_texts(name, help);
    check_default(rule, defaults.*member, name);
  }
  template <Section T>
  void operator()(T S::*member, const char* name, const char* help) {
    check_texts(name, help);
    RowChecker<T>::check(defaults.*member);
  }
  template <Section T>
  void operator()(std::vector<T> S::* /*member*/, const char* name, const char* help) {
    check_texts(name, help);
    RowChecker<T>::check(T{});
  }

  void check_texts(const std::string& name, const std::string& help) {
    ++rows;
    EXPECT_TRUE(names.insert(name).second) << name << " is there twice";
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos)
        << name;
    EXPECT_FALSE(name.empty());
    EXPECT_FALSE(help.empty()) << name;
    EXPECT_EQ(help.find_first_of("|\n\""), std::string::npos) << name << " would break a table";
  }

  static void check_default(const IntegerRange& rule, std::int64_t value, const char* name) {
    EXPECT_LE(rule.low, value) << name;
    EXPECT_GE(rule.high, value) << name;
  }
  static void check_default(const RealRange& rule, double value, const char* name) {
    EXPECT_LE(rule.low, value) << name;
    EXPECT_GE(rule.high, value) << name;
  }
  static void check_default(AnyText /*rule*/, const std::string& /*value*/, const char* /*name*/) {}
  static void check_default(Flag /*rule*/, bool /*value*/, const char* /*name*/) {}
  template <class E>
  static void check_default(OneOf /*rule*/, E value, const char* name) {
    EXPECT_FALSE(enum_name(value).empty()) << name;
    const auto names = choices<E>();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size()) << name;
  }
};

struct TwoMembers {
  std::string text;
  std::vector<int> list;
};

TEST(CountMembers, CountsClassesAndLists) { EXPECT_EQ(count_members<TwoMembers>(), 2U); }

TEST(Fields, EveryMemberHasARowWithNameHelpAndAllowedDefault) {
  RowChecker<Config>::check(Config{});
}

TEST(EnumName, GivesTextOrNothing) {
  EXPECT_EQ(enum_name(Tie::kAll), "all");
  EXPECT_EQ(enum_name(static_cast<Tie>(99)), "");
}

}  // namespace
}  // namespace verso
