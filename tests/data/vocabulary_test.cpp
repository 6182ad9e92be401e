#include "data/vocabulary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "data/list_vocabulary.h"
#include "tests/data/support.h"

namespace verso {
namespace {

using std::string_literals::operator""s;
using Ids = std::vector<std::int32_t>;
using Lines = std::vector<std::string>;

constexpr VocabularyKind kAllKinds[] = {VocabularyKind::kWord, VocabularyKind::kChar,
                                        VocabularyKind::kBpe, VocabularyKind::kUnigram};

std::shared_ptr<const Vocabulary> train(VocabularyKind kind, std::int64_t size, Lines lines,
                                        std::int64_t min_frequency = 1) {
  VocabularyConfig config;
  config.kind = kind;
  config.min_frequency = min_frequency;
  return train_vocabulary(config, size, lines_of(std::move(lines)));
}

Lines prose() {
  return {"the cat sat on the mat", "the dog sat on the log", "a cat and a dog met on the mat",
          "cats and dogs and mats and logs"};
}

Lines entries_of(const Vocabulary& vocabulary) {
  Lines entries;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) entries.push_back(vocabulary.token(id));
  return entries;
}

class EveryKind : public testing::TestWithParam<VocabularyKind> {};
INSTANTIATE_TEST_SUITE_P(Vocabulary, EveryKind, testing::ValuesIn(kAllKinds),
                         [](const auto& kind) { return std::string(enum_name(kind.param)); });

TEST_P(EveryKind, SpecialIdsComeFirst) {
  const auto vocabulary = train(GetParam(), 60, prose());
  EXPECT_EQ(vocabulary->kind(), GetParam());
  const Lines entries = entries_of(*vocabulary);
  EXPECT_EQ(Lines(entries.begin(), entries.begin() + 4), (Lines{"<pad>", "<unk>", "<s>", "</s>"}));
  EXPECT_EQ(std::set<std::string>(entries.begin(), entries.end()).size(), entries.size());
}

TEST_P(EveryKind, TrainingTextComesBack) {
  const auto vocabulary = train(GetParam(), 60, prose());
  for (const std::string& line : prose()) {
    const EncodedLine encoded = vocabulary->encode(line);
    EXPECT_EQ(vocabulary->decode(encoded.ids), line);
    EXPECT_EQ(vocabulary->words_of(encoded.ids), encoded.word_of);
  }
}

TEST_P(EveryKind, R007RunsOfWhiteSpaceSeparateAndNeverAreContent) {
  const auto vocabulary = train(GetParam(), 60, {"a \t b\v\fc", " a  b c ", "a b c\r"});
  const EncodedLine expected = vocabulary->encode("a b c");
  for (const char* line : {"a \t b c", " a  b\vc ", "a\rb\fc\r", "\ta b c\t"}) {
    EXPECT_EQ(vocabulary->encode(line).ids, expected.ids);
    EXPECT_EQ(vocabulary->encode(line).word_of, expected.word_of);
  }
  for (const std::string& entry : entries_of(*vocabulary)) {
    EXPECT_FALSE(entry.empty());
    EXPECT_EQ(entry.find_first_of(" \t\r\v\f"), std::string::npos);
  }
  EXPECT_TRUE(vocabulary->encode("").ids.empty());
  EXPECT_TRUE(vocabulary->encode(" \t\r\v\f").ids.empty());
  EXPECT_EQ(vocabulary->decode({}), "");
}

TEST_P(EveryKind, R003LineBreaksOfUnicodeAreContent) {
  const std::string line =
      "a\xe2\x80\xa8"
      "b \xc2\x85 \xe3\x80\x80 \xc2\xa0 x\x1cy";
  const auto vocabulary = train(GetParam(), 60, {line});
  const EncodedLine encoded = vocabulary->encode(line);
  EXPECT_EQ(encoded.word_of.back(), 4);
  EXPECT_EQ(vocabulary->decode(encoded.ids), line);
}

TEST_P(EveryKind, R009NulIsContent) {
  const std::string line = "a\0b \0 c"s;
  const auto vocabulary = train(GetParam(), 60, {line});
  const EncodedLine encoded = vocabulary->encode(line);
  EXPECT_EQ(encoded.word_of.back(), 2);
  EXPECT_EQ(vocabulary->decode(encoded.ids), line);
  const auto again = load_vocabulary(GetParam(), vocabulary->bytes(), "here");
  EXPECT_EQ(again->encode(line).ids, encoded.ids);
}

TEST_P(EveryKind, R017TokensOfSignsComeBackUnchanged) {
  const std::string line = ": # \" ' \\ ||| - < &amp; {} @@ %s ` \xe2\x96\x81 \xe2\x96\x85x @@a";
  const auto vocabulary = train(GetParam(), 200, Lines(20, line));
  const auto again = load_vocabulary(GetParam(), vocabulary->bytes(), "here");
  EXPECT_EQ(vocabulary->decode(vocabulary->encode(line).ids), line);
  EXPECT_EQ(again->decode(again->encode(line).ids), line);
  EXPECT_EQ(again->encode(line).ids, vocabulary->encode(line).ids);
}

TEST_P(EveryKind, TokensSpelledLikeSpecialNamesNeverGiveSpecialIds) {
  const std::string line = "<unk> x<s>y </s> <pad> <space> a";
  const auto vocabulary = train(GetParam(), 200, Lines(50, line));
  const EncodedLine encoded = vocabulary->encode(line);
  for (const std::int32_t id : encoded.ids) {
    EXPECT_TRUE(id == kUnknownId || id >= kSpecialIds) << id;
  }
  EXPECT_EQ(encoded.word_of.back(), 5);
  const auto again = load_vocabulary(GetParam(), vocabulary->bytes(), "here");
  EXPECT_EQ(again->encode(line).ids, encoded.ids);
  if (GetParam() != VocabularyKind::kWord) {
    EXPECT_EQ(again->decode(encoded.ids), line);
  }
}

TEST_P(EveryKind, UnknownIsShownAndCountsAsPartOfItsToken) {
  const auto vocabulary = train(GetParam(), 60, prose());
  const EncodedLine encoded = vocabulary->encode("cat \xe2\x98\x83 dog");
  const std::string text = vocabulary->decode(encoded.ids);
  EXPECT_EQ(text, "cat <unk> dog");
  EXPECT_EQ(vocabulary->words_of(encoded.ids), encoded.word_of);
  EXPECT_EQ(vocabulary->decode(Ids{kBeginId, kUnknownId, kPadId, kEndId}), "<unk>");
  EXPECT_EQ(vocabulary->words_of(Ids{kBeginId, kUnknownId, kPadId, kEndId}), (Ids{-1, 0, -1, -1}));
}

TEST_P(EveryKind, TrainingIsDeterministic) {
  const auto vocabulary = train(GetParam(), 40, prose());
  EXPECT_EQ(train(GetParam(), 40, prose())->bytes(), vocabulary->bytes());
}

TEST_P(EveryKind, TextWithoutTokensIsAnError) {
  EXPECT_NE(data_error_of([] {
              (void)train(GetParam(), 40, {"", " \t "});
            }).find("no token"),
            std::string::npos);
}

TEST_P(EveryKind, SmallestSizeAndSmallestTextWork) {
  EXPECT_LE(train(GetParam(), 8, prose())->size(), 8);
  const auto tiny = train(GetParam(), 100000, {"a"});
  EXPECT_EQ(tiny->decode(tiny->encode("a").ids), "a");
  EXPECT_LT(tiny->size(), 10);
}

TEST_P(EveryKind, LongTokensAreCutButCount) {
  const std::string line = std::string(100'000, 'a') + " b";
  const auto vocabulary = train(GetParam(), 30, {line, "a a a b"});
  const EncodedLine encoded = vocabulary->encode(line);
  EXPECT_EQ(encoded.word_of.back(), 1);
  EXPECT_EQ(vocabulary->decode(encoded.ids), line);
}

TEST_P(EveryKind, IdsOutsideAreErrors) {
  const auto vocabulary = train(GetParam(), 40, prose());
  const auto size = static_cast<std::int32_t>(vocabulary->size());
  for (const std::int32_t id : {-1, size}) {
    EXPECT_THROW((void)vocabulary->decode(Ids{id}), Error);
    EXPECT_THROW((void)vocabulary->words_of(Ids{id}), Error);
    EXPECT_THROW((void)vocabulary->token(id), Error);
  }
}

TEST_P(EveryKind, DamagedBytesAreErrorsNamingThePlace) {
  const std::string bytes = train(GetParam(), 40, prose())->bytes();
  for (const std::string& damaged : {""s, bytes.substr(0, 10), bytes.substr(1), "\n" + bytes}) {
    const std::string message =
        data_error_of([&] { (void)load_vocabulary(GetParam(), damaged, "best.safetensors"); });
    EXPECT_TRUE(message.starts_with("best.safetensors: ")) << message;
  }
}

// Characters that have made trouble somewhere, and ordinary ones.
rc::Gen<std::string> any_line() {
  const auto piece = rc::gen::element<std::string>(
      "a", "b", "the", "cat", " ", "  ", "\t", "\r", "\v", "\0"s, "\xe2\x96\x81", "\xe2\x96\x85",
      "\xef\xb7\x90", "\xef\xb7\x92", "\xef\xb7\x93", "\xe3\x80\x80", "\xe2\x80\xa8", "\xc2\x85",
      "\xc2\xa0", "\xf0\x9f\x98\x80", "\xe2\x98\x83", "<unk>", "<s>", "</s>", "<pad>", "<space>",
      "\xcc\x81", "\xef\xbb\xbf");
  return rc::gen::map(rc::gen::container<Lines>(piece), [](const Lines& pieces) {
    std::string line;
    for (const std::string& text : pieces) line += text;
    return line;
  });
}

std::shared_ptr<const Vocabulary> shared_vocabulary(VocabularyKind kind) {
  static const auto vocabularies = [] {
    Lines lines = prose();
    lines.push_back("\xe2\x96\x81 a\xe2\x96\x85 \xe3\x80\x80 \xf0\x9f\x98\x80 a\0"s);
    std::vector<std::shared_ptr<const Vocabulary>> all;
    for (const VocabularyKind each : kAllKinds) all.push_back(train(each, 60, lines));
    return all;
  }();
  return vocabularies[static_cast<std::size_t>(kind)];
}

RC_GTEST_PROP(VocabularyProperties, WordOfIndexesTheTokensOfTheLine, (std::uint64_t seed)) {
  const std::string line = *any_line();
  const std::size_t tokens = split_tokens(line).size();
  Random random(seed);
  for (const VocabularyKind kind : kAllKinds) {
    const auto vocabulary = shared_vocabulary(kind);
    for (const EncodedLine& encoded :
         {vocabulary->encode(line), vocabulary->encode_sampled(line, 0.5, random)}) {
      RC_ASSERT(encoded.ids.size() == encoded.word_of.size());
      std::set<std::int32_t> words(encoded.word_of.begin(), encoded.word_of.end());
      RC_ASSERT(words.size() == tokens);
      RC_ASSERT(std::is_sorted(encoded.word_of.begin(), encoded.word_of.end()));
      if (tokens > 0) RC_ASSERT(encoded.word_of.front() == 0);
      if (tokens > 0) RC_ASSERT(encoded.word_of.back() == std::ssize(words) - 1);
      const auto unknown = std::count(encoded.ids.begin(), encoded.ids.end(), kUnknownId);
      if (unknown == 0) RC_ASSERT(vocabulary->decode(encoded.ids) == normalize_spaces(line));
      RC_ASSERT(vocabulary->words_of(encoded.ids) == encoded.word_of);
    }
  }
}

RC_GTEST_PROP(VocabularyProperties, WordsOfAgreesWithTheTokensOfAnyDecodedIds, ()) {
  for (const VocabularyKind kind : kAllKinds) {
    const auto vocabulary = shared_vocabulary(kind);
    const Ids ids = *rc::gen::container<Ids>(
        rc::gen::inRange<std::int32_t>(0, static_cast<std::int32_t>(vocabulary->size())));
    const std::string text = vocabulary->decode(ids);
    const auto tokens = split_tokens(text);
    const Ids words = vocabulary->words_of(ids);
    RC_ASSERT(text == normalize_spaces(text));
    RC_ASSERT(words.size() == ids.size());
    std::vector<std::string> parts(tokens.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const bool special = ids[i] < kSpecialIds && ids[i] != kUnknownId;
      RC_ASSERT(words[i] >= -1 && words[i] < std::ssize(tokens));
      if (special) RC_ASSERT(words[i] == -1);
      const std::string alone = vocabulary->decode(Ids{ids[i]});
      if (alone.empty()) continue;
      RC_ASSERT(words[i] >= 0);
      parts[static_cast<std::size_t>(words[i])] += alone;
    }
    for (std::size_t i = 0; i < tokens.size(); ++i) RC_ASSERT(parts[i] == tokens[i]);
  }
}

RC_GTEST_PROP(VocabularyProperties, AnyBytesAreLoadedOrRefused, ()) {
  for (const VocabularyKind kind : kAllKinds) {
    std::string bytes = shared_vocabulary(kind)->bytes();
    const auto where = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[where] = *rc::gen::arbitrary<char>();
    if (*rc::gen::arbitrary<bool>()) bytes.resize(*rc::gen::inRange<std::size_t>(0, bytes.size()));
    try {
      const auto vocabulary = load_vocabulary(kind, bytes, "here");
      const EncodedLine encoded = vocabulary->encode("the cat\xe2\x96\x81 sat");
      RC_ASSERT(vocabulary->words_of(encoded.ids).size() == encoded.ids.size());
    } catch (const DataError&) {
    }
  }
}

TEST(WordVocabulary, MostFrequentFirstThenByBytes) {
  const auto vocabulary = train(VocabularyKind::kWord, 100, {"b a c a", "c a d"});
  EXPECT_EQ(vocabulary->bytes(), "<pad>\n<unk>\n<s>\n</s>\na\nc\nb\nd\n");
  EXPECT_EQ(vocabulary->encode("d x a").ids, (Ids{7, kUnknownId, 4}));
}

TEST(WordVocabulary, SizeAndFrequencyLimitEntries) {
  const Lines lines = {"a a a b b c"};
  EXPECT_EQ(train(VocabularyKind::kWord, 6, lines)->size(), 6);
  EXPECT_EQ(train(VocabularyKind::kWord, 100, lines, 2)->size(), 6);
  EXPECT_NE(data_error_of([&] {
              (void)train(VocabularyKind::kWord, 100, lines, 9);
            }).find("vocabulary.min_frequency (9)"),
            std::string::npos);
}

TEST(WordVocabulary, R017ListsEachSignOnceAndUnchanged) {
  const Lines signs = {":", "#", "\"", "'", "\\", "|||", "-", "<", "&amp;", "{}", "@@", "%s", "`"};
  const auto vocabulary = train(VocabularyKind::kWord, 100, signs);
  Lines entries = entries_of(*vocabulary);
  entries.erase(entries.begin(), entries.begin() + kSpecialIds);
  Lines expected = signs;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(entries, expected);
}

TEST(WordVocabulary, FaultsOfStoredListsAreNamed) {
  const std::string head = "<pad>\n<unk>\n<s>\n</s>\n";
  const auto message = [&](const std::string& bytes) {
    return data_error_of([&] { (void)load_vocabulary(VocabularyKind::kWord, bytes, "v"); });
  };
  EXPECT_EQ(message(head + "a\na\n"), "v: vocabulary line 6 \"a\" is there twice");
  EXPECT_EQ(message(head + "a b\n"), "v: vocabulary line 5 holds white space");
  EXPECT_EQ(message(head + "a\n\nb\n"), "v: vocabulary line 6 is empty");
  EXPECT_EQ(message(head + "\xe9\n"), "v: vocabulary line 5 is not valid UTF-8");
  EXPECT_EQ(message("a\n"), "v: vocabulary line 1 is \"a\", expected \"<pad>\"");
  EXPECT_EQ(message("<pad>\n"), "v: vocabulary of 1 lines, expected at least 4");
}

TEST(CharVocabulary, SeparatorIsAnEntryThatNoTextCanSpell) {
  const auto vocabulary = train(VocabularyKind::kChar, 100, {"ab a"});
  EXPECT_EQ(vocabulary->bytes(), "<pad>\n<unk>\n<s>\n</s>\n<space>\na\nb\n");
  const EncodedLine encoded = vocabulary->encode(" ab  a ");
  EXPECT_EQ(encoded.ids, (Ids{5, 6, 4, 5}));
  EXPECT_EQ(encoded.word_of, (Ids{0, 0, 1, 1}));
  EXPECT_EQ(vocabulary->decode(Ids{4, 5, 4, 4, 6, 4}), "a b");
  EXPECT_EQ(vocabulary->words_of(Ids{4, 5, 4, 4, 6, 4}), (Ids{0, 0, 1, 1, 1, -1}));
}

}  // namespace
}  // namespace verso
