// How text is read: the executable on corpora and input that other tools stumble over.
#include <algorithm>
#include <set>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::HasSubstr;

class Reading : public testing::Test {
 protected:
  TempFolder folder_;
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Reading, R001_UnequalLineCountsNameBothFilesAndLeaveNothing) {
  Json config = toy_config(folder_);
  write_all(folder_ / "run.src", joined(toy_source()) + "x y\n");
  expect_clean_error(train(config), 4,
                     {folder_ / "run.src", folder_ / "run.tgt", "301", "300", "line 301"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));

  Json valid = toy_config(folder_, "other");
  add_validation(valid, folder_, {"a", "b"}, {"A", "B", "C"}, 5);
  expect_clean_error(train(valid), 4, {folder_ / "valid.src", folder_ / "valid.tgt", "2", "3"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "other"));
}

TEST_F(Reading, R001_AfterAMendedCorpusTheSameCommandTrains) {
  Json config = toy_config(folder_);
  config["training"]["max_updates"] = 1;
  write_all(folder_ / "run.src", joined(toy_source()) + "x y\n");
  EXPECT_EQ(train(config).code, 4);
  write_all(folder_ / "run.src", joined(toy_source()));
  train_well(config);
}

TEST_F(Reading, R001_AlignAndScoreRefuseUnequalCountsToo) {
  write_all(folder_ / "s", "a\nb\n");
  write_all(folder_ / "t", "A\n");
  for (const char* command : {"align", "score"}) {
    const Result result = run(
        {command, SharedModels::get().toy(), "--source", folder_ / "s", "--target", folder_ / "t"});
    EXPECT_EQ(result.code, 4);
    for (const std::string& part : {folder_ / "s", folder_ / "t"}) {
      EXPECT_THAT(result.err, HasSubstr(part));
    }
  }
}

TEST_F(Reading, R003_OnlyLineFeedsEndLines) {
  Json config = toy_config(folder_,
                           repeated("a\xE2\x80\xA8"
                                    "b\xC2\x85 x\xE3\x80\x80y\nc\n",
                                    300),
                           repeated("A B\nC\n", 300));
  config["training"]["max_updates"] = 1;
  EXPECT_THAT(train_well(config).err, HasSubstr("600 of 600 pairs"));
  const Lines entries = vocabulary_of(folder_ / "run", "source");
  EXPECT_THAT(entries, testing::IsSupersetOf({"a\xE2\x80\xA8"
                                              "b\xC2\x85",
                                              "x\xE3\x80\x80y", "c"}));
  EXPECT_EQ(translate(SharedModels::get().toy(), {"a\xE2\x80\xA8"
                                                  "b",
                                                  "c"})
                .size(),
            2U);
}

TEST_F(Reading, R005_CarriageReturnsAreWhiteSpace) {
  const Result result = run_well({"translate", SharedModels::get().toy()},
                                 "a b\n"
                                 "a b\r\n"
                                 "a\rb\n"
                                 "c\n");
  const Lines lines = result.lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "A B");
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_EQ(lines[2], lines[0]);
  EXPECT_EQ(result.out.find('\r'), std::string::npos);

  Json config = toy_config(folder_, repeated("a b\r\nc\rd\r\n", 40), repeated("A B\r\nC D\n", 40));
  config["training"]["max_updates"] = 1;
  EXPECT_THAT(train_well(config).err, HasSubstr("80 of 80 pairs"));
  EXPECT_THAT(vocabulary_of(folder_ / "run", "source"),
              testing::IsSupersetOf({"a", "b", "c", "d"}));
  EXPECT_EQ(vocabulary_of(folder_ / "run", "source").size(), 8U);
}

TEST_F(Reading, R007_RunsOfWhiteSpaceSeparateAndNothingElse) {
  Json config = toy_config(folder_, repeated("a \t b\n a  b \na b\r\n\va\fb\n", 50),
                           repeated("A B\nA\tB\n A B \nA  B\r\n", 50));
  config["training"]["max_updates"] = 1;
  EXPECT_THAT(train_well(config).err, HasSubstr("200 of 200 pairs"));
  for (const char* side : {"source", "target"}) {
    const Lines entries = vocabulary_of(folder_ / "run", side);
    EXPECT_EQ(entries.size(), 6U);
    for (const std::string& entry : entries) EXPECT_EQ(words_of(entry), Lines{entry});
  }
  const Lines lines =
      translate(SharedModels::get().toy(), {"a b", "a \t b", " a  b ", "a b\r", "\va\f b"});
  EXPECT_EQ(lines, Lines(5, "A B"));
}

TEST_F(Reading, R009_NulIsContentAndCutsNothing) {
  Lines source = toy_source();
  source[149] = std::string("a\0b c", 5);
  Json config = toy_config(folder_, joined(source), joined(toy_target()));
  config["training"]["max_updates"] = 1;
  EXPECT_THAT(train_well(config).err, HasSubstr("300 of 300 pairs"));
  EXPECT_THAT(vocabulary_of(folder_ / "run", "source"), testing::Contains(std::string("a\0b", 3)));
  EXPECT_EQ(translate(SharedModels::get().toy(), {std::string("a\0b c", 5), "d"}).size(), 2U);
}

TEST_F(Reading, R011_InvalidUtf8NamesFileLineAndByte) {
  Json config = toy_config(folder_, "a\ncaf\xE9 b\n", "A\nB\n");
  expect_clean_error(train(config), 4, {folder_ / "run.src:2", "0xE9", "invalid_utf8"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));

  config["training"]["max_updates"] = 1;
  config["data"]["invalid_utf8"] = "skip";
  EXPECT_THAT(train_well(config).err, HasSubstr("1 of 2 pairs"));
  config["data"]["invalid_utf8"] = "replace";
  EXPECT_THAT(train_well(config, {"--overwrite"}).err, HasSubstr("2 of 2 pairs"));
}

TEST_F(Reading, R011_InvalidInputOfTranslateNamesItsLine) {
  const std::string input = "a\ncaf\xE9 b\nc\n";
  const Result result = run({"translate", SharedModels::get().toy()}, input);
  EXPECT_EQ(result.code, 4);
  EXPECT_EQ(result.out, "A\n");  // what came before is answered, with its line end
  EXPECT_THAT(result.err, HasSubstr("stdin:2"));
  EXPECT_THAT(result.err, HasSubstr("0xE9"));
  const Lines lines =
      run_well({"translate", SharedModels::get().toy(), "--invalid-utf8", "replace"}, input)
          .lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "A");
  EXPECT_EQ(lines[2], "C");
}

// AddressSanitizer keeps freed memory back, so that only the plain build can tell.
#ifndef __SANITIZE_ADDRESS__
TEST_F(Reading, R013_MemoryDoesNotGrowWithText) {
  constexpr int kPairs = 200000;
  Json config = toy_config(folder_, repeated("a b c d\ne f\n", kPairs / 2),
                           repeated("A B C D\nE F\n", kPairs / 2));
  config["training"]["max_updates"] = 5;
  const Result trained = train_well(config);
  EXPECT_THAT(trained.err, HasSubstr("200000 of 200000"));
  config = toy_config(folder_, "small");
  config["training"]["max_updates"] = 5;
  const long small = train_well(config).peak_kib;
  // Ids of four bytes and an index entry: about three times the bytes of this text.
  EXPECT_LT(trained.peak_kib - small, 4 * 2 * kPairs * 6 / 1024);

  const Lines few(2500, "a b c"), many(7500, "a b c");
  const Lines options = {"translate", SharedModels::get().toy(), "--beam", "1"};
  const long first = run_well(options, joined(few)).peak_kib;
  EXPECT_LT(run_well(options, joined(many)).peak_kib, first + 16 * 1024);
}
#endif

TEST_F(Reading, R015_NoUsablePairIsAnErrorWithTheReasons) {
  const Lines source = toy_sentences(300, kLetters, 100, 1, 100);
  Json config = toy_config(folder_, joined(source), joined(upper(source)));
  config["data"]["max_len"] = 5;
  expect_clean_error(train(config), 4,
                     {"0 of 300", "300 are longer than data.max_len (5)", "raise data.max_len"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  config["data"]["max_len"] = 0;
  expect_clean_error(train(config), 3, {"data.max_len", "0", "1 to 10000"});
}

TEST_F(Reading, R015_EmptyCorpusHasItsOwnMessage) {
  Json config = toy_config(folder_, "", "");
  expect_clean_error(train(config), 4, {folder_ / "run.src", "no line"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  Json blank = toy_config(folder_, "\n\n", "\n\n", "blank");
  expect_clean_error(train(blank), 4, {"no token"});
  config["data"]["train"][0]["source"] = folder_ / "none";
  expect_clean_error(train(config), 4, {folder_ / "none"});
}

TEST_F(Reading, R017_AnyTokenRoundTrips) {
  const Lines odd = {":", "#", "\"", "'", "\\", "|||", "-", "<", "&amp;", "{}", "@@", "%s", "`"};
  const Lines source = toy_sentences(300, odd, 5, 3);
  Json config = toy_config(folder_, joined(source), joined(source));
  config["training"].merge_patch({{"max_updates", 450},
                                  {"learning_rate", 0.01},
                                  {"warmup", 100},
                                  {"schedule", "inverse_sqrt"}});
  train_well(config);
  for (const char* side : {"source", "target"}) {
    Lines entries = vocabulary_of(folder_ / "run", side);
    entries.erase(entries.begin(), entries.begin() + 4);
    EXPECT_THAT(entries, testing::UnorderedElementsAreArray(odd));
  }
  EXPECT_EQ(translate(folder_ / "run", odd), odd);
  const Lines links = align(folder_ / "run", odd, odd);
  EXPECT_EQ(links, Lines(odd.size(), "0-0"));
  const Lines words = align(folder_ / "run", odd, odd, {"--with-words"});
  ASSERT_EQ(words.size(), odd.size());
  for (std::size_t i = 0; i < odd.size(); ++i) {
    EXPECT_EQ(words[i], "0-0 " + odd[i] + " " + odd[i]);
  }
  for (const std::string& line : translate(folder_ / "run", odd, {"--json"})) {
    const Json record = Json::parse(line);
    EXPECT_EQ(record["text"], odd[record["id"].get<std::size_t>()]);
  }
}

}  // namespace
}  // namespace verso::cli
