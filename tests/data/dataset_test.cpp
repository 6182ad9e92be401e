#include "data/dataset.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

#include "base/random.h"
#include "data/digest.h"
#include "data/pair_cache.h"
#include "tests/data/support.h"

namespace verso {
namespace {

using Ids = std::vector<std::int32_t>;

Ids to_vector(std::span<const std::int32_t> ids) { return {ids.begin(), ids.end()}; }

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class DatasetTest : public testing::Test {
 protected:
  DatasetTest() { config_.vocabulary.kind = VocabularyKind::kWord; }

  void add_corpus(std::string_view source, std::string_view target) {
    const std::string number = std::to_string(config_.data.train.size());
    CorpusConfig corpus;
    corpus.source = folder_.write("s" + number, source);
    corpus.target = folder_.write("t" + number, target);
    config_.data.train.push_back(corpus);
  }
  std::shared_ptr<const Dataset> build() {
    vocabularies_ = train_vocabularies(config_);
    return build_dataset(config_, vocabularies_, folder_.path("cache"));
  }
  std::vector<std::filesystem::path> cache_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("cache"))) {
      files.push_back(entry.path());
    }
    return files;
  }
  std::string error_of_build() {
    return data_error_of([&] { (void)build(); });
  }

  TemporaryFolder folder_;
  Config config_;
  VocabularyPair vocabularies_;
};

TEST_F(DatasetTest, HoldsIdsLinesAndCorporaOfTheUsedPairs) {
  add_corpus("a b\n\nc\n", "A B\nX\nC\n");
  add_corpus("b\n", "B A\n");
  const auto dataset = build();
  ASSERT_EQ(dataset->size(), 3);
  EXPECT_EQ(to_vector(dataset->source(0)), vocabularies_.source->encode("a b").ids);
  EXPECT_EQ(to_vector(dataset->target(0)), vocabularies_.target->encode("A B").ids);
  EXPECT_EQ(to_vector(dataset->target(2)), vocabularies_.target->encode("B A").ids);
  EXPECT_EQ(dataset->line(1), 3);
  EXPECT_EQ(dataset->corpus(1), 0);
  EXPECT_EQ(dataset->line(2), 1);
  EXPECT_EQ(dataset->corpus(2), 1);
}

TEST_F(DatasetTest, LinksStayWithTheirPairs) {
  config_.data.max_len = 3;
  add_corpus("a b\n\nc\na a a a\nb c\n", "A B\nX\nC\nA\nB C\n");
  config_.data.train[0].links = folder_.write("links", "1-0 0p1 \n\n\n3-0\n2-2 1-1:0.5\n");
  config_.data.train[0].links_index = 0;
  EXPECT_TRUE(contains(error_of_build(), "links:5: link 2-2, but the source line has 2 tokens"));
  config_.data.train[0].links = folder_.write("links", "1-0 0p1 \n\n\n3-0\n1-1:0.5\n");
  for (int time = 0; time < 2; ++time) {  // built, then mapped
    const auto dataset = build();
    ASSERT_EQ(dataset->size(), 3);
    EXPECT_TRUE(dataset->has_links());
    const PairLinks first = dataset->links(0), last = dataset->links(2);
    ASSERT_EQ(first.links.size(), 2U);
    EXPECT_EQ(first.links[1].source, 0);
    EXPECT_EQ(first.links[1].target, 1);
    EXPECT_EQ(to_vector(first.source_words), (Ids{0, 1}));
    EXPECT_TRUE(dataset->links(1).links.empty());
    ASSERT_EQ(last.links.size(), 1U);
    EXPECT_EQ(last.links[0].source, 1);
  }
}

TEST_F(DatasetTest, LinksAreKeptBesideTheTextOfSampling) {
  config_.vocabulary.kind = VocabularyKind::kBpe;
  config_.vocabulary.source_size = config_.vocabulary.target_size = 20;
  config_.vocabulary.sampling = 0.1;
  add_corpus("abc de\nd e\n", "X YZ\nZ Y\n");
  config_.data.train[0].links = folder_.write("links", "1-1 2-2\n1-2\n");
  config_.data.train[0].links_index = 1;
  const auto dataset = build();
  EXPECT_EQ(to_vector(dataset->links(0).source_words),
            vocabularies_.source->encode("abc de").word_of);
  EXPECT_EQ(dataset->links(0).links[1].target, 1);
  EXPECT_EQ(dataset->links(1).links[0].target, 1);
}

TEST_F(DatasetTest, ChangedLinksAreOtherData) {
  add_corpus("a\n", "A\n");
  const std::string none = build()->digest();
  config_.data.train[0].links = folder_.write("links", "0-0\n");
  const std::string some = build()->digest();
  config_.data.train[0].links = folder_.write("links2", "\n");
  EXPECT_NE(none, some);
  EXPECT_NE(build()->digest(), some);
}

TEST_F(DatasetTest, R073WrongLinksAreErrorsThatNameTheLine) {
  add_corpus("a b c\nb\n", "A B\nB\n");
  const auto error_with = [&](std::string_view links) {
    config_.data.train[0].links = folder_.write("links", links);
    return error_of_build();
  };
  EXPECT_TRUE(contains(error_with("0-0\n"), "links has 1 lines, but"));
  EXPECT_TRUE(contains(error_with("0-0\n"), " have 2 pairs; expected a line of links for each"));
  EXPECT_TRUE(contains(error_with("0-0\n\n0-0\n"), "links has 3 lines, but"));
  EXPECT_TRUE(contains(error_with("0 0\n\n"), "links:1: \"0\" is not a link"));
  EXPECT_TRUE(
      contains(error_with("\n9-0\n"), "links:2: link 9-0, but the source line has 1 tokens"));
}

TEST_F(DatasetTest, PairsAreLeftOutByReason) {
  config_.data.max_len = 5;
  config_.data.max_ratio = 2.0;
  config_.data.invalid_utf8 = InvalidUtf8::kSkip;
  add_corpus("a\n \nb\na a a a a a\na a a\nb\xff\na a\n", "A\nA\n\t\nA\nA\nB\nA A A A\n");
  const PairCounts counts = build()->counts();
  EXPECT_EQ(counts.read, 7);
  EXPECT_EQ(counts.used, 2);
  EXPECT_EQ(counts.empty, 2);
  EXPECT_EQ(counts.too_long, 1);
  EXPECT_EQ(counts.ratio, 1);
  EXPECT_EQ(counts.invalid_utf8, 1);
}

TEST_F(DatasetTest, R001UnequalSidesAreAnErrorAndLeaveNothingBehind) {
  add_corpus("a\nb\nx y\n", "A\nB\n");
  EXPECT_TRUE(contains(error_of_build(), "has 3 lines"));
  const VocabularyPair vocabularies{
      load_vocabulary(VocabularyKind::kWord, "<pad>\n<unk>\n<s>\n</s>\na\n", "v"),
      load_vocabulary(VocabularyKind::kWord, "<pad>\n<unk>\n<s>\n</s>\na\n", "v")};
  EXPECT_TRUE(contains(
      data_error_of([&] { (void)build_dataset(config_, vocabularies, folder_.path("cache")); }),
      "line 3 of " + folder_.path("s0") + " is the first without a partner"));
  EXPECT_TRUE(cache_files().empty());
}

TEST_F(DatasetTest, R015NoUsablePairIsAnErrorWithCountsAndKeys) {
  std::string line = "a";
  for (int i = 1; i < 100; ++i) line += " a";
  std::string text;
  for (int i = 0; i < 300; ++i) text += line + "\n";
  add_corpus(text, text);
  config_.data.max_len = 5;
  const std::string message = error_of_build();
  EXPECT_TRUE(contains(message, "0 of 300 training pairs")) << message;
  EXPECT_TRUE(contains(message, "300 are longer than data.max_len (5)")) << message;
  EXPECT_TRUE(contains(message, "raise data.max_len")) << message;
  EXPECT_FALSE(contains(message, "raise data.max_ratio")) << message;
  EXPECT_TRUE(cache_files().empty());
}

TEST_F(DatasetTest, R015EmptyCorpusHasItsOwnMessage) {
  add_corpus("a\n", "A\n");
  add_corpus("", "");
  const std::string message = error_of_build();
  EXPECT_TRUE(contains(message, folder_.path("s1") + " and " + folder_.path("t1") +
                                    " hold no line, expected pairs to train on"))
      << message;
}

TEST_F(DatasetTest, R011InvalidUtf8StopsWithThePlace) {
  add_corpus("a\ncaf\xe9 b\n", "A\nB\n");
  EXPECT_TRUE(contains(error_of_build(), folder_.path("s0") + ":2: byte 4 (0xE9)"));
}

TEST_F(DatasetTest, TrainingFilesMustBeRegular) {
  CorpusConfig corpus;
  corpus.source = "/dev/null";
  corpus.target = folder_.write("t", "A\n");
  config_.data.train = {corpus};
  EXPECT_TRUE(contains(error_of_build(), "/dev/null: expected a regular file"));
  config_.data.train[0].source = folder_.path("none");
  EXPECT_TRUE(contains(error_of_build(), "none: cannot be opened"));
}

TEST_F(DatasetTest, JointVocabularyIsOneObjectOfBothSides) {
  add_corpus("a b\n", "A b\n");
  config_.vocabulary.joint = true;
  (void)build();
  EXPECT_EQ(vocabularies_.source, vocabularies_.target);
  EXPECT_EQ(vocabularies_.source->size(), kSpecialIds + 3);
  config_.vocabulary.joint = false;
  (void)build();
  EXPECT_EQ(vocabularies_.source->size(), kSpecialIds + 2);
  EXPECT_EQ(vocabularies_.target->size(), kSpecialIds + 2);
}

TEST_F(DatasetTest, CacheIsMadeOnceAndKeyedByContent) {
  add_corpus("a b\nc\n", "A B\nC\n");
  const std::string digest = build()->digest();
  ASSERT_EQ(cache_files().size(), 1u);
  const auto made = std::filesystem::last_write_time(cache_files()[0]);
  EXPECT_EQ(build()->digest(), digest);
  EXPECT_EQ(std::filesystem::last_write_time(cache_files()[0]), made);
  // The same bytes under other names are the same data.
  CorpusConfig& corpus = config_.data.train[0];
  corpus.source = folder_.write("other", "a b\nc\n");
  EXPECT_EQ(build()->digest(), digest);
  // Other bytes of the same size and time are other data.
  corpus.source = folder_.write("other", "a b\nd\n");
  EXPECT_NE(build()->digest(), digest);
  corpus.source = folder_.write("other", "a b\nc\n");
  config_.data.max_len = 99;
  EXPECT_NE(build()->digest(), digest);
}

TEST_F(DatasetTest, DamagedCacheIsMadeAgain) {
  add_corpus("a b\nc\nb c\n", "A B\nC\nB\n");
  for (const double sampling : {0.0, 0.1}) {
    config_.vocabulary.sampling = sampling;
    std::filesystem::remove_all(folder_.path("cache"));
    const Ids source = to_vector(build()->source(1));
    const std::string digest = build()->digest();
    ASSERT_EQ(cache_files().size(), 1u);
    const std::string path = cache_files()[0].string();
    const std::string good = read_file(path);
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::string damaged = good;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
      folder_.write("cache/" + cache_files()[0].filename().string(), damaged);
      EXPECT_THROW((void)map_pair_cache(path, digest, config_, vocabularies_), DataError);
    }
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, good.size() / 2}) {
      folder_.write("cache/" + cache_files()[0].filename().string(), good.substr(0, size));
      EXPECT_THROW((void)map_pair_cache(path, digest, config_, vocabularies_), DataError);
      const auto again = build();
      EXPECT_EQ(read_file(path), good);
      EXPECT_EQ(to_vector(again->source(1)), source);
    }
  }
}

TEST_F(DatasetTest, SampledPairsAreEncodedFromTheirText) {
  std::string source, target;
  for (int i = 0; i < 30; ++i) {
    source += "the lowest  cat\tsat on the mat\n";
    target += "der newest dog sat\n";
  }
  add_corpus(source, target);
  config_.vocabulary.kind = VocabularyKind::kBpe;
  config_.vocabulary.source_size = config_.vocabulary.target_size = 40;
  const auto plain = build();
  Random random(3), same(3);
  EXPECT_THROW((void)plain->sampled_source(0, random), DataError);
  config_.vocabulary.sampling = 0.5;
  const auto dataset = build();
  EXPECT_EQ(dataset->digest(), plain->digest());
  ASSERT_EQ(dataset->size(), 30);
  for (const std::int64_t pair : {0, 7, 29}) {
    EXPECT_EQ(to_vector(dataset->source(pair)), to_vector(plain->source(pair)));
    const EncodedLine sampled = dataset->sampled_source(pair, random);
    EXPECT_EQ(vocabularies_.source->decode(sampled.ids), "the lowest cat sat on the mat");
    EXPECT_EQ(dataset->sampled_source(pair, same).ids, sampled.ids);
    const EncodedLine sampled_target = dataset->sampled_target(pair, random);
    EXPECT_EQ(vocabularies_.target->decode(sampled_target.ids), "der newest dog sat");
    (void)dataset->sampled_target(pair, same);
  }
}

RC_GTEST_FIXTURE_PROP(DatasetTest, AnyPairsComeBackAsTheVocabularyEncodesThem, ()) {
  const auto words = rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("a", "b ", " c", " ", "d"));
  const auto joined = rc::gen::map(words, [](const std::vector<std::string>& drawn) {
    std::string line;
    for (const std::string& word : drawn) line += word;
    return line;
  });
  const auto pairs = *rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
      rc::gen::pair(joined, joined));
  std::string source = "a\n", target = "a\n";
  for (const auto& pair : pairs) {
    source += pair.first + "\n";
    target += pair.second + "\n";
  }
  add_corpus(source, target);
  config_.vocabulary.sampling = *rc::gen::element(0.0, 0.1);
  const auto dataset = build();
  const ParallelText text = read_parallel_text(config_.data.train[0], InvalidUtf8::kError);
  RC_ASSERT(dataset->counts().read == std::ssize(text.source));
  for (std::int64_t i = 0; i < dataset->size(); ++i) {
    const auto line = static_cast<std::size_t>(dataset->line(i) - 1);
    RC_ASSERT(to_vector(dataset->source(i)) == vocabularies_.source->encode(text.source[line]).ids);
    RC_ASSERT(to_vector(dataset->target(i)) == vocabularies_.target->encode(text.target[line]).ids);
  }
}

TEST_F(DatasetTest, RealMessyNewsIsReadWhole) {
  CorpusConfig corpus;
  corpus.source = shared_file("messy_news_commentary_moses/nc-5k.fr");
  corpus.target = shared_file("messy_news_commentary_moses/nc-5k.en");
  VERSO_SKIP_WITHOUT(corpus.source);
  config_.data.train = {corpus};
  const PairCounts counts = build()->counts();
  EXPECT_EQ(counts.read, 5000);
  EXPECT_EQ(counts.empty, 13);
  EXPECT_EQ(counts.used + counts.empty + counts.too_long + counts.ratio, 5000);
}

TEST(Digest, IsFnv1aOf128Bits) {
  EXPECT_EQ(Digest().hex(), "6c62272e07bb014262b821756295c58d");
  Digest digest;
  digest.add_bytes("a");
  EXPECT_EQ(digest.hex(), "d228cb696f1a8caf78912b704e4a8964");
}

TEST(Digest, FieldsCannotTradeBytes) {
  Digest one, other;
  one.add_field("ab");
  one.add_field("c");
  other.add_field("a");
  other.add_field("bc");
  EXPECT_NE(one.hex(), other.hex());
}

}  // namespace
}  // namespace verso
