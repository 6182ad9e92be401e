#include "base/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdio>
#include <limits>

#include "base/error.h"

namespace verso {
namespace {

using Views = std::vector<std::string_view>;

TEST(Cat, JoinsTextAndNumbers) { EXPECT_EQ(cat("a", 1, ':', 2.5, std::string("b")), "a1:2.5b"); }

TEST(Fixed, PrintsAsPrintfDoes) {
  EXPECT_EQ(fixed(3.14159, 2), "3.14");
  EXPECT_EQ(fixed(-0.5, 0), "-0");
  EXPECT_EQ(fixed(2, 3), "2.000");
  EXPECT_EQ(fixed(std::numeric_limits<double>::max(), 1).size(), 309U + 2U);
}

RC_GTEST_PROP(FixedProperty, EqualsPrintf, (double value)) {
  std::array<char, 400> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.4f", value);
  RC_ASSERT(fixed(value, 4) == buffer.data());
}

TEST(SplitTokens, SeparatesAtRunsOfAsciiWhiteSpaceOnly) {
  EXPECT_EQ(split_tokens("  a   b\t c \r\v\f"), (Views{"a", "b", "c"}));
  EXPECT_EQ(split_tokens(""), Views{});
  EXPECT_EQ(split_tokens(" \t "), Views{});
}

TEST(SplitTokens, LeavesOtherSpacesAndNulInsideTokens) {
  const std::string line = std::string("a\u00A0b c\u3000d e\u2028f g\u0085h i\0j", 25);
  EXPECT_EQ(split_tokens(line).size(), 5U);
}

TEST(NormalizeSpaces, MakesRunsOneSpaceAndTrims) {
  EXPECT_EQ(normalize_spaces("  a \t b\r"), "a b");
  EXPECT_EQ(normalize_spaces(" "), "");
}

TEST(FindInvalidUtf8, NamesTheFirstBadByte) {
  EXPECT_EQ(find_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("caf\u00E9 \U0001F600 \uFFFF"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("caf\xE9"), 3U);
  EXPECT_EQ(find_invalid_utf8("a\xC0\x80"), 1U);         // overlong
  EXPECT_EQ(find_invalid_utf8("\xED\xA0\x80"), 0U);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0U);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("ab\xE2\x82"), 2U);        // cut
  EXPECT_EQ(find_invalid_utf8("\x80"), 0U);              // continuation alone
}

TEST(ReplaceInvalidUtf8, PutsOneMarkForEachBrokenCharacter) {
  EXPECT_EQ(replace_invalid_utf8("good \u4F60"), "good \u4F60");
  EXPECT_EQ(replace_invalid_utf8("caf\xE9!"), "caf\uFFFD!");
  EXPECT_EQ(replace_invalid_utf8("\xE2\x82"), "\uFFFD");  // a cut character is one
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98x"), "\uFFFDx");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xC0\x80"), "\uFFFD\uFFFD");
}

RC_GTEST_PROP(ReplaceInvalidUtf8Property, GivesValidTextAndKeepsValidText,
              (const std::string& text)) {
  const std::string clean = replace_invalid_utf8(text);
  RC_ASSERT(!find_invalid_utf8(clean));
  RC_ASSERT(find_invalid_utf8(text) || clean == text);
  std::string joined;
  for (const auto character : split_characters(clean)) joined += character;
  RC_ASSERT(joined == clean);
}

TEST(SplitCharacters, GivesCodePoints) {
  EXPECT_EQ(split_characters("a\u00E9\u4F60\U0001F600"),
            (Views{"a", "\u00E9", "\u4F60", "\U0001F600"}));
  EXPECT_THROW(static_cast<void>(split_characters("\xE9")), DataError);
}

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::string> names{"hidden", "embed", "decoder", "learning_rate"};
  EXPECT_EQ(nearest_name("hiden", names), "hidden");
  EXPECT_EQ(nearest_name("deocder", names), "decoder");
  EXPECT_EQ(nearest_name("learning_rat", names), "learning_rate");
  EXPECT_EQ(nearest_name("trian", {"align", "train"}), "train");  // neighbours swapped
}

TEST(NearestName, SaysNothingWhenNoneIsNear) {
  const std::vector<std::string> names{"hidden", "x"};
  EXPECT_EQ(nearest_name("zebra", names), "");
  EXPECT_EQ(nearest_name("y", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'h'), names), "");
}

}  // namespace
}  // namespace verso
