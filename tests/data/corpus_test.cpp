#include "data/corpus.h"

#include <rapidcheck/gtest.h>

#include "tests/data/support.h"

namespace verso {
namespace {

using std::string_literals::operator""s;

class PairReaderTest : public testing::Test {
 protected:
  CorpusConfig corpus(std::string_view source, std::string_view target) {
    CorpusConfig files;
    files.source = folder_.write("s", source);
    files.target = folder_.write("t", target);
    return files;
  }
  CorpusConfig tsv(std::string_view text) {
    CorpusConfig file;
    file.tsv = folder_.write("p.tsv", text);
    return file;
  }
  ParallelText read(const CorpusConfig& files, InvalidUtf8 rule = InvalidUtf8::kError) {
    return read_parallel_text(files, rule);
  }
  std::string error_of(const CorpusConfig& files, InvalidUtf8 rule = InvalidUtf8::kError) {
    return data_error_of([&] { (void)read(files, rule); });
  }
  TemporaryFolder folder_;
};

TEST_F(PairReaderTest, R001UnequalLineCountsNameBothFilesCountsAndTheFirstLineAlone) {
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "a\n";
  const std::string s = folder_.path("s"), t = folder_.path("t");
  EXPECT_EQ(error_of(corpus(lines + "x y\nz\n", lines)),
            s + " has 302 lines, " + t + " has 300, expected as many; line 301 of " + s +
                " is the first without a partner");
  EXPECT_EQ(error_of(corpus(lines, lines + "x y")), s + " has 300 lines, " + t +
                                                        " has 301, expected as many; line 301 of " +
                                                        t + " is the first without a partner");
  EXPECT_EQ(read(corpus(lines, lines)).source.size(), 300u);
}

TEST_F(PairReaderTest, R003LineBreaksOfUnicodeDoNotShiftPairs) {
  std::string source, target;
  for (int i = 0; i < 300; ++i) {
    source +=
        "a\xe2\x80\xa8"
        "b\nc\n";
    target += "A B\nC\n";
  }
  const ParallelText text = read(corpus(source, target));
  ASSERT_EQ(text.source.size(), 600u);
  EXPECT_EQ(text.source[599], "c");
  EXPECT_EQ(text.target[599], "C");
}

TEST_F(PairReaderTest, R009NulDoesNotLoseLines) {
  std::string source, target;
  for (int i = 1; i <= 300; ++i) {
    source += i == 150 ? "a\0b c\n"s : "a b\n"s;
    target += "A\n";
  }
  const ParallelText text = read(corpus(source, target));
  EXPECT_EQ(text.source.size(), 300u);
  EXPECT_EQ(text.source[149], "a\0b c"s);
}

TEST_F(PairReaderTest, R011InvalidUtf8NamesFileLineByteAndValue) {
  const CorpusConfig files = corpus("a\ncaf\xe9 b\n", "A\nB\n");
  const std::string message = error_of(files);
  EXPECT_TRUE(message.starts_with(folder_.path("s") + ":2: byte 4 (0xE9) is not valid UTF-8"))
      << message;
  EXPECT_NE(message.find("data.invalid_utf8"), std::string::npos);
}

TEST_F(PairReaderTest, R011InvalidUtf8CanBeReplacedOrSkippedOnEitherSide) {
  const CorpusConfig files = corpus("a\ncaf\xe9 b\nc\n", "A\nB\nC\xff\n");
  const ParallelText replaced = read(files, InvalidUtf8::kReplace);
  EXPECT_EQ(replaced.source, (std::vector<std::string>{"a", "caf\xef\xbf\xbd b", "c"}));
  EXPECT_EQ(replaced.target, (std::vector<std::string>{"A", "B", "C\xef\xbf\xbd"}));
  const ParallelText kept = read(files, InvalidUtf8::kSkip);
  EXPECT_EQ(kept.source, std::vector<std::string>{"a"});
  EXPECT_EQ(kept.target, std::vector<std::string>{"A"});
}

TEST_F(PairReaderTest, OneTabSeparatesTheSidesOfATsv) {
  const ParallelText text = read(tsv("a b\tA B\r\n\tB\nc\t\n"));
  EXPECT_EQ(text.source, (std::vector<std::string>{"a b", "", "c"}));
  EXPECT_EQ(text.target, (std::vector<std::string>{"A B", "B", ""}));
  EXPECT_EQ(error_of(tsv("a\tA\na\tb\tc\td\n")),
            folder_.path("p.tsv") + ":2: 3 tabs, expected 1 (source TAB target)");
  EXPECT_NE(error_of(tsv("a\tA\n\n")).find(":2: 0 tabs"), std::string::npos);
}

TEST_F(PairReaderTest, PlacesNameFileAndLine) {
  PairReader reader(corpus("a\nb\n", "A\nB\n"));
  std::string source, target;
  ASSERT_TRUE(reader.next(source, target));
  ASSERT_TRUE(reader.next(source, target));
  EXPECT_EQ(reader.source_place(), folder_.path("s") + ":2");
  EXPECT_EQ(reader.target_place(), folder_.path("t") + ":2");
}

TEST_F(PairReaderTest, CorpusMustBeTwoFilesOrOneTsv) {
  CorpusConfig half;
  half.source = folder_.write("s", "a\n");
  CorpusConfig all = corpus("a\n", "A\n");
  all.tsv = folder_.write("p.tsv", "a\tA\n");
  CorpusConfig stdin_twice;
  stdin_twice.source = stdin_twice.target = "-";
  for (const CorpusConfig& wrong : {CorpusConfig{}, half, all, stdin_twice}) {
    EXPECT_THROW(PairReader{wrong}, DataError);
  }
}

TEST_F(PairReaderTest, RealLatin1AndRealEmptyLines) {
  const std::string latin = shared_file("messy_latin1_moses/to-translate.txt");
  CorpusConfig news;
  news.source = shared_file("messy_news_commentary_moses/nc-5k.fr");
  news.target = shared_file("messy_news_commentary_moses/nc-5k.en");
  VERSO_SKIP_WITHOUT(latin);
  CorpusConfig files;
  files.source = files.target = latin;
  EXPECT_NE(error_of(files).find("to-translate.txt:1: byte 29 (0x"), std::string::npos)
      << error_of(files);
  EXPECT_EQ(read(files, InvalidUtf8::kReplace).source.size(), 6u);
  EXPECT_EQ(read(news).source.size(), 5000u);
}

TEST_F(PairReaderTest, ACorpusWithoutALineIsAnErrorWithItsFiles) {
  EXPECT_EQ(error_of(corpus("", "")),
            folder_.path("s") + " and " + folder_.path("t") + " hold no line, expected pairs");
  EXPECT_EQ(error_of(tsv("")), folder_.path("p.tsv") + " hold no line, expected pairs");
  EXPECT_EQ(read(corpus("\n", "\n")).source.size(), 1u);
}

RC_GTEST_FIXTURE_PROP(PairReaderTest, AnyPairsComeBackAllInOrderFromFilesAndTsv, ()) {
  const auto side = rc::gen::container<std::string>(
      rc::gen::element('a', 'b', ' ', '\0', '\x0B', '\x1C', '.', '|'));
  const auto pairs =
      *rc::gen::nonEmpty(rc::gen::container<std::vector<std::pair<std::string, std::string>>>(
          rc::gen::pair(side, side)));
  std::string source, target, both;
  ParallelText expected;
  for (const auto& [left, right] : pairs) {
    expected.source.push_back(left);
    expected.target.push_back(right);
    source += left + "\n";
    target += right + "\n";
    both += left + "\t" + right + "\n";
  }
  const bool ended = *rc::gen::arbitrary<bool>();  // the last line may lack its end
  if (!ended && !expected.source.back().empty() && !expected.target.back().empty()) {
    for (std::string* text : {&source, &target, &both}) text->pop_back();
  }
  for (const CorpusConfig& files : {corpus(source, target), tsv(both)}) {
    const ParallelText text = read(files);
    RC_ASSERT(text.source == expected.source);
    RC_ASSERT(text.target == expected.target);
  }
}

}  // namespace
}  // namespace verso
