#include "search/translator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "tests/search/random_model.h"

namespace verso {
namespace {

using test::random_model;

std::vector<std::string> texts(const std::vector<Translation>& translations) {
  std::vector<std::string> found;
  for (const Translation& translation : translations) found.push_back(translation.nbest[0].text);
  return found;
}

std::vector<std::string> random_lines(std::size_t count, std::uint64_t longest, uint64_t seed) {
  Random random(seed);
  std::vector<std::string> lines(count);
  for (std::string& line : lines) {
    for (std::uint64_t n = 1 + random.below(longest); n > 0; --n) {
      line += cat(line.empty() ? "" : " ", static_cast<char>('a' + random.below(8)));
    }
  }
  return lines;
}

/// A model that almost always says the unknown word.
TranslationModel unknowing_model() {
  TranslationModel model = random_model(3);
  const torch::NoGradGuard no_gradients;
  model.network->named_parameters()["output_bias"][kUnknownId] += 12;
  return model;
}

TEST(Translator, R038BlankInBlankOut) {
  const TranslationModel model = random_model(1);
  TranslateOptions options;
  options.search.nbest = 3;
  const Translator translator({&model}, options);
  const auto found = translator.translate({"", "a b", " \t", "", "c"});
  ASSERT_EQ(found.size(), 5U);
  for (const std::size_t blank : {0U, 2U, 3U}) {
    ASSERT_EQ(found[blank].nbest.size(), 1U);
    EXPECT_EQ(found[blank].nbest[0].text, "");
    EXPECT_TRUE(found[blank].nbest[0].token_log_probs.empty());
  }
  EXPECT_EQ(found[1].nbest[0].text, translator.translate({"a b"})[0].nbest[0].text);
  EXPECT_EQ(found[4].nbest.size(), 3U);
  EXPECT_TRUE(translator.translate({}).empty());
}

TEST(Translator, R040LongLineIsTranslatedAsFarAsItFits) {
  const TranslationModel model = random_model(1);
  TranslateOptions options;
  options.max_input = 6;
  const Translator translator({&model}, options);
  std::string longest = "a b c d e f", line = longest;
  for (int i = 0; i < 5000; ++i) line += " g";
  const auto found = translator.translate({"a", "b c", line, "d", "e f"});
  EXPECT_TRUE(found[2].truncated);
  EXPECT_EQ(found[2].source.ids.size(), 6U);
  EXPECT_EQ(found[2].nbest[0].text, translator.translate({longest})[0].nbest[0].text);
  for (const std::size_t i : {0U, 1U, 3U, 4U}) EXPECT_FALSE(found[i].truncated);
  EXPECT_EQ(found[4].nbest[0].text, translator.translate({"e f"})[0].nbest[0].text);
}

TEST(Translator, R042R044BatchSizeAndOrderAreInvisible) {
  const TranslationModel model = random_model(2);
  const std::vector<std::string> lines = random_lines(70, 20, 4);
  TranslateOptions options;
  options.attention = true;
  const auto all = Translator({&model}, options).translate(lines);
  for (const std::int64_t batch_tokens : {1, 60, 500, 100000}) {
    options.batch_tokens = batch_tokens;
    const auto found = Translator({&model}, options).translate(lines);
    EXPECT_EQ(texts(found), texts(all));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_NEAR(found[i].nbest[0].score, all[i].nbest[0].score, 1e-4);
    }
  }
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  Random(5).shuffle(order);
  std::vector<std::string> shuffled;
  for (const std::size_t i : order) shuffled.push_back(lines[i]);
  const auto found = Translator({&model}, options).translate(shuffled);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(found[i].nbest[0].text, all[order[i]].nbest[0].text);
  }
  for (const std::size_t count : {1U, 3U, 4U, 5U, 8U, 17U}) {
    const std::vector<std::string> head(lines.begin(),
                                        lines.begin() + static_cast<std::ptrdiff_t>(count));
    const auto expected = texts(all);
    EXPECT_EQ(texts(Translator({&model}, options).translate(head)),
              std::vector<std::string>(expected.begin(),
                                       expected.begin() + static_cast<std::ptrdiff_t>(count)));
  }
}

TEST(Translator, R050ScoresFallAndTheFirstIsThePlainOne) {
  const TranslationModel model = random_model(4);
  const std::vector<std::string> lines = random_lines(20, 8, 6);
  TranslateOptions options;
  options.search.beam = 3;
  const auto plain = Translator({&model}, options).translate(lines);
  options.search.nbest = 3;
  const auto three = Translator({&model}, options).translate(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(three[i].nbest.size(), 3U);
    EXPECT_EQ(three[i].nbest[0].text, plain[i].nbest[0].text);
    EXPECT_GE(three[i].nbest[0].score, three[i].nbest[1].score);
    EXPECT_GE(three[i].nbest[1].score, three[i].nbest[2].score);
  }
  options.search.nbest = 5;
  EXPECT_THROW(Translator({&model}, options), UsageError);
}

TEST(Translator, R054UnknownWordsComeFromTheirOwnLine) {
  const TranslationModel model = unknowing_model();
  const std::vector<std::string> lines{"Anna a b", "c Boris", "d  e\tClara f", "Dora",
                                       "a a a Emil"};
  TranslateOptions options;
  options.search.beam = 2;
  options.replace_unknown = true;
  const Translator translator({&model}, options);
  for (const bool reversed : {false, true}) {
    std::vector<std::string> input = lines;
    if (reversed) std::reverse(input.begin(), input.end());
    const auto found = translator.translate(input);
    for (std::size_t i = 0; i < input.size(); ++i) {
      const auto own = split_tokens(input[i]);
      std::size_t words = 0;
      for (const std::string_view word : split_tokens(found[i].nbest[0].text)) {
        ++words;
        const bool known = word.size() == 1 && word[0] >= 'A' && word[0] <= 'H';
        EXPECT_TRUE(known || std::find(own.begin(), own.end(), word) != own.end()) << word;
      }
      EXPECT_GT(words, 0U);
    }
    EXPECT_NE(found[reversed ? 1 : 3].nbest[0].text.find("Dora"), std::string::npos);
  }
}

TEST(Translator, UnknownWordsGoThroughTheDictionaryAndArePrintedWithoutIt) {
  const TranslationModel model = unknowing_model();
  TranslateOptions options;
  EXPECT_EQ(Translator({&model}, options).translate({"Dora"})[0].nbest[0].text.substr(0, 5),
            "<unk>");
  options.replace_unknown = true;
  options.dictionary = {{"Dora", "Theodora"}};
  EXPECT_EQ(Translator({&model}, options).translate({"Dora"})[0].nbest[0].text.substr(0, 8),
            "Theodora");
}

TEST(Translator, PrefixIsKeptAsGiven) {
  const TranslationModel model = random_model(6);
  const Translator translator({&model}, {});
  const auto found = translator.translate({"a b", "c", "d e", ""}, 1, {"B Zoe", "", "H", "A"});
  EXPECT_EQ(found[0].nbest[0].text.substr(0, 5), "B Zoe");
  EXPECT_EQ(found[1].nbest[0].text, translator.translate({"c"})[0].nbest[0].text);
  EXPECT_EQ(found[2].nbest[0].text.substr(0, 1), "H");
  EXPECT_EQ(found[3].nbest[0].text, "");
}

TEST(Translator, SamplesBelongToTheLineNumber) {
  const TranslationModel model = random_model(7);
  TranslateOptions options;
  options.search.sample = true;
  options.search.beam = 1;
  const Translator translator({&model}, options);
  const std::vector<std::string> lines = random_lines(12, 9, 8);
  const auto together = texts(translator.translate(lines));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto alone = translator.translate({lines[i]}, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(alone[0].nbest[0].text, together[i]);
  }
}

TEST(Translator, NamesTheModelThatDoesNotFit) {
  const TranslationModel model = random_model(1);
  TranslationModel other = random_model(2);
  other.vocabularies.source = test::word_vocabulary("a b c");
  try {
    const Translator translator({&model, &other}, {}, {"x.safetensors", "y.safetensors"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("y.safetensors: its source vocabulary (7"),
              std::string::npos);
  }
}

TEST(Translator, WordIndicesFitTheText) {
  const TranslationModel model = random_model(9);
  TranslateOptions options;
  options.attention = true;
  for (const Translation& translation :
       Translator({&model}, options).translate(random_lines(20, 9, 10))) {
    const TranslatedLine& best = translation.nbest[0];
    ASSERT_EQ(best.word_of.size(), best.ids.size());
    EXPECT_EQ(best.alpha.size(), best.token_log_probs.size() * (translation.source.ids.size() + 1));
    const auto words = static_cast<std::int32_t>(split_tokens(best.text).size());
    for (const std::int32_t word : best.word_of) EXPECT_LT(word, words);
  }
}

}  // namespace
}  // namespace verso
