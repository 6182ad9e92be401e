#include "base/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <limits>

#include "base/text.h"

namespace verso {
namespace {

TEST(JsonQuote, EscapesWhatJsonForbids) {
  EXPECT_EQ(json_quote(R"(a "b" \c)"), R"("a \"b\" \\c")");
  EXPECT_EQ(json_quote("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_quote(std::string_view("\0\x1F\x7F", 3)), R"("\u0000\u001f\u007f")");
}

TEST(JsonQuote, KeepsOtherCharactersAsTheyAre) {
  EXPECT_EQ(json_quote("\u4F60 <b>&/"), "\"\u4F60 <b>&/\"");
}

TEST(JsonQuote, EscapesLineEndsBeyondAscii) {
  EXPECT_EQ(json_quote("a\u2028b\u2029c\u0085"), R"("a\u2028b\u2029c\u0085")");
}

TEST(JsonQuote, ReplacesInvalidBytes) { EXPECT_EQ(json_quote("a\xE9"), "\"a\uFFFD\""); }

RC_GTEST_PROP(JsonQuoteProperty, IsOneLineOfValidText, (const std::string& text)) {
  const std::string quoted = json_quote(text);
  RC_ASSERT(!find_invalid_utf8(quoted));
  for (const char c : quoted) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20);
}

TEST(JsonNumber, IsShortAndMarksReals) {
  EXPECT_EQ(json_number(0.1), "0.1");
  EXPECT_EQ(json_number(2), "2.0");
  EXPECT_EQ(json_number(1e-8), "1e-08");
  EXPECT_EQ(json_number(std::numeric_limits<double>::infinity()), "null");
}

RC_GTEST_PROP(JsonNumberProperty, ReadsBackAsTheSameDouble, (double value)) {
  RC_ASSERT(std::strtod(json_number(value).c_str(), nullptr) == value);
}

}  // namespace
}  // namespace verso
