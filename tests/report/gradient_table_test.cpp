#include "report/gradient_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "align/display.h"
#include "tests/report/support.h"

namespace verso {
namespace {

using test::some_record;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(GradientTable, HasEachSourceWordWithItsPathsAndTheirSum) {
  const std::string table = gradient_table(some_record({"das", "Haus"}, {"the", "house"}));
  EXPECT_THAT(table,
              HasSubstr("   1  Haus           2      0.500      0.250      0.350     -0.100"));
  EXPECT_THAT(table, HasSubstr("all"));
  EXPECT_THAT(table, HasSubstr("advantage_tj"));
}

TEST(GradientTable, ColumnsStandBelowEachOtherInAnyScript) {
  const auto lines = lines_of(gradient_table(some_record({"你好世界", "é́", "a"}, {"x"})));
  std::vector<std::int64_t> widths;
  for (const std::string& line : lines) {
    if (line.ends_with("-0.100")) widths.push_back(display_width(line));
  }
  ASSERT_EQ(widths.size(), 5U);  // three words, the end symbol, all
  for (const std::int64_t width : widths) EXPECT_EQ(width, widths[0]);
}

TEST(GradientTable, WordsCannotSendControlsToTheTerminal) {
  const std::string table = gradient_table(some_record({"\x1b[31m", "a\tb"}, {"\xe2\x80\xae"}));
  EXPECT_EQ(table.find('\x1b'), std::string::npos);
  EXPECT_EQ(table.find('\t'), std::string::npos);
  EXPECT_EQ(table.find("\xe2\x80\xae"), std::string::npos);
}

TEST(GradientTable, TheLargestDifferenceIsNamed) {
  EXPECT_EQ(largest_difference({{"dL/dv", 1e-12}, {"dL/dU", 2.14e-11}}, "autograd"),
            "largest relative difference from autograd 2.1e-11 (dL/dU)");
}

}  // namespace
}  // namespace verso
