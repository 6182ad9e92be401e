#include "data/subword_vocabulary.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sentencepiece_processor.h>

#include <cmath>
#include <map>
#include <set>

#include "base/random.h"
#include "tests/data/support.h"

namespace verso {
namespace {

using Ids = std::vector<std::int32_t>;
using Lines = std::vector<std::string>;

Lines prose() {
  return {
      "the cat sat on the mat",          "the dog sat on the log", "a cat and a dog met on the mat",
      "cats and dogs and mats and logs", "low lower lowest",       "new newer newest"};
}

std::shared_ptr<const Vocabulary> train(VocabularyKind kind, std::int64_t size, Lines lines,
                                        double coverage = 1.0) {
  VocabularyConfig config;
  config.kind = kind;
  config.character_coverage = coverage;
  return train_vocabulary(config, size, lines_of(std::move(lines)));
}

class Subword : public testing::TestWithParam<VocabularyKind> {};
INSTANTIATE_TEST_SUITE_P(Vocabulary, Subword,
                         testing::Values(VocabularyKind::kBpe, VocabularyKind::kUnigram),
                         [](const auto& kind) { return std::string(enum_name(kind.param)); });

// Our segmentation is the library's own on the model that the library trained.
TEST_P(Subword, CutsWordsAsSentencePieceDoes) {
  const auto vocabulary = train(GetParam(), 60, prose());
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.LoadFromSerializedProto(vocabulary->bytes()).ok());
  EXPECT_EQ(theirs.GetPieceSize(), vocabulary->size());
  EXPECT_EQ(theirs.pad_id(), kPadId);
  EXPECT_EQ(theirs.unk_id(), kUnknownId);
  EXPECT_EQ(theirs.bos_id(), kBeginId);
  EXPECT_EQ(theirs.eos_id(), kEndId);
  for (const char* line : {"the cat sat", "slowest newt and thermal dogmas",
                           "t\xe2\x98\x83\xe2\x98\x83n", "aaaaaaa xyz the\xe2\x98\x83 a"}) {
    EXPECT_EQ(vocabulary->encode(line).ids, theirs.EncodeAsIds(line)) << line;
  }
}

TEST_P(Subword, CutsRealTextAsSentencePieceDoes) {
  const std::string path = shared_file("enja_small_parallel/dev.ja");
  VERSO_SKIP_WITHOUT(path);
  const Lines lines = read_lines(path);
  const auto vocabulary = train(GetParam(), 1500, lines);
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.LoadFromSerializedProto(vocabulary->bytes()).ok());
  for (const std::string& line : lines) {
    ASSERT_EQ(vocabulary->encode(line).ids, theirs.EncodeAsIds(line)) << line;
    ASSERT_EQ(vocabulary->decode(vocabulary->encode(line).ids), normalize_spaces(line));
  }
}

TEST_P(Subword, MergesWhatIsFrequent) {
  const auto vocabulary = train(GetParam(), 200, prose());
  EXPECT_LT(vocabulary->encode("the cat").ids.size(), 7u);
  EXPECT_GT(vocabulary->encode("the cat").ids.size(), 1u);
}

TEST_P(Subword, ATextTooSmallForTheSizeGivesFewerPieces) {
  const auto vocabulary = train(GetParam(), 8000, prose());
  EXPECT_LT(vocabulary->size(), 300);
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("the lowest cat").ids), "the lowest cat");
}

TEST_P(Subword, ASizeTooSmallForTheCharactersKeepsTheMostFrequent) {
  const auto vocabulary = train(GetParam(), 10, {"aaaa bbb aaaa bbb aaab cc de fgh ijk"});
  EXPECT_EQ(vocabulary->size(), 10);
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("ab").ids), "ab");
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("azb").ids), "a<unk>b");
}

TEST_P(Subword, CharacterCoverageLeavesRareCharactersOut) {
  Lines lines(100, "abab baba abba");
  lines.push_back("z");
  const auto vocabulary = train(GetParam(), 30, lines, 0.9);
  EXPECT_EQ(vocabulary->decode(vocabulary->encode("ab z").ids), "ab <unk>");
}

TEST_P(Subword, SampledTextIsTheSameTextAndTheSameForTheSameGenerator) {
  const auto vocabulary = train(GetParam(), 80, prose());
  const std::string line = "the lowest cat and the newest dog sat on the mat";
  Random random(5), same(5);
  std::set<Ids> seen;
  for (int i = 0; i < 50; ++i) {
    const EncodedLine sampled = vocabulary->encode_sampled(line, 0.3, random);
    EXPECT_EQ(vocabulary->decode(sampled.ids), line);
    EXPECT_EQ(vocabulary->words_of(sampled.ids), sampled.word_of);
    EXPECT_EQ(vocabulary->encode_sampled(line, 0.3, same).ids, sampled.ids);
    seen.insert(sampled.ids);
  }
  EXPECT_GT(seen.size(), 20u);
  const std::string state = random.state();
  EXPECT_EQ(vocabulary->encode_sampled(line, 0.0, random).ids, vocabulary->encode(line).ids);
  EXPECT_EQ(random.state(), state);
}

TEST(BpeVocabulary, DropoutOfOneLeavesCharacters) {
  const auto vocabulary = train(VocabularyKind::kBpe, 80, prose());
  Random random(1);
  EXPECT_EQ(vocabulary->encode_sampled("the cat", 1.0, random).ids.size(), 8u);
}

TEST(UnigramVocabulary, SamplesEachSegmentationInProportionToItsProbability) {
  const auto vocabulary = train(VocabularyKind::kUnigram, 60, prose());
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.LoadFromSerializedProto(vocabulary->bytes()).ok());
  constexpr double kAlpha = 0.7;
  constexpr int kDraws = 20000;
  std::map<Ids, int> counts;
  Random random(9);
  for (int i = 0; i < kDraws; ++i) {
    ++counts[vocabulary->encode_sampled("cats", kAlpha, random).ids];
  }
  ASSERT_GT(counts.size(), 1u);
  // Ratios of any two are those of exp(alpha * sum of scores).
  const auto weight = [&](const Ids& ids) {
    double sum = 0;
    for (const std::int32_t id : ids) sum += theirs.GetScore(id);
    return std::exp(kAlpha * sum);
  };
  double all = 0;
  for (const auto& [ids, count] : counts) all += weight(ids);
  for (const auto& [ids, count] : counts) {
    const double expected = kDraws * weight(ids) / all;
    EXPECT_NEAR(count, expected, 5 * std::sqrt(expected) + 2);
  }
}

TEST(SubwordVocabulary, KindAndModelMustAgree) {
  const auto bpe = train(VocabularyKind::kBpe, 60, prose());
  EXPECT_NE(data_error_of([&] {
              (void)load_vocabulary(VocabularyKind::kUnigram, bpe->bytes(), "m");
            }).find("m: SentencePiece model of type 2, expected 1 (unigram)"),
            std::string::npos);
}

TEST(SubwordVocabulary, MemoryOfWordsDoesNotChangeWhatTheyBecome) {
  const auto vocabulary = train(VocabularyKind::kBpe, 60, prose());
  const EncodedLine first = vocabulary->encode("newest cats newest");
  EXPECT_EQ(vocabulary->encode("newest cats newest").ids, first.ids);
  // 200 000 different words are more than are remembered.
  for (int i = 0; i < 200'000; ++i) (void)vocabulary->encode(cat("w", i));
  EXPECT_EQ(vocabulary->encode("newest cats newest").ids, first.ids);
  const auto fresh = load_vocabulary(VocabularyKind::kBpe, vocabulary->bytes(), "m");
  EXPECT_EQ(vocabulary->encode("w199999").ids, fresh->encode("w199999").ids);
}

}  // namespace
}  // namespace verso
