#include "metrics/tokenize.h"

#include <gtest/gtest.h>

#include "metrics/unicode.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

std::vector<std::u32string> decoded(const nlohmann::json& words) {
  std::vector<std::u32string> out;
  for (const std::string word : words) out.push_back(unicode::decode(word));
  return out;
}

TEST(Tokenize, CutsLinesAsSacrebleuDoes) {
  const auto file = test::read_json(test::tests_folder() / "fixtures/metrics/tokens.json");
  for (const auto& item : file["cases"]) {
    SCOPED_TRACE(item.dump());
    const std::u32string line = unicode::decode(item["line"].get<std::string>());
    for (const auto tokenizer :
         {BleuTokenizer::k13a, BleuTokenizer::kNone, BleuTokenizer::kIntl, BleuTokenizer::kChar}) {
      EXPECT_EQ(bleu_tokens(line, tokenizer),
                decoded(item["tokens"][std::string(tokenizer_name(tokenizer))]))
          << tokenizer_name(tokenizer);
    }
    EXPECT_EQ(unicode::lower_case(line), unicode::decode(item["lower"].get<std::string>()));
  }
}

TEST(Tokenize, EntitiesAreReadInMtevalsOrder) {
  EXPECT_EQ(bleu_tokens(U"&amp;lt; &quot;a&quot;", BleuTokenizer::k13a),
            (std::vector<std::u32string>{U"<", U"\"", U"a", U"\""}));
}

TEST(Unicode, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(unicode::decode("a\xffz"), U"a\uFFFDz");
}

TEST(Unicode, LowerCaseKnowsTheFinalSigmaAndTheDottedI) {
  EXPECT_EQ(unicode::lower_case(U"ΟΔΟΣ ΣΑΣ, Σ"), U"οδος σας, σ");
  EXPECT_EQ(unicode::lower_case(U"İ"), U"i\u0307");
  EXPECT_EQ(unicode::lower_case(U"ǄǅẞÅ"), U"ǆǆßå");
}

}  // namespace
}  // namespace verso
