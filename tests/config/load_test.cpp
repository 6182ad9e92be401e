#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "config/write.h"

namespace verso {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

/// All problems of `text`, or "" when it loads.
std::string problems_of(std::string_view text) {
  try {
    static_cast<void>(parse_config(text, "run.json"));
  } catch (const ConfigError& problem) {
    return problem.what();
  }
  return {};
}

TEST(ParseConfig, TakesValuesAndKeepsOtherDefaults) {
  const Config config = parse_config(R"({
    // a comment
    "output": "runs/a", "seed": 1e3, /* another */ "threads": 2,
    "data": {"train": [{"source": "a", "target": "b"}, {"tsv": "c", "weight": 2}]},
    "model": {"decoder": {"kind": "rnnsearch"}, "layer_norm": true, "dropout": {"embed": 0.5}}
  })",
                                     "run.json");
  EXPECT_EQ(config.output, "runs/a");
  EXPECT_EQ(config.seed, 1000);
  EXPECT_EQ(config.threads, 2);
  ASSERT_EQ(config.data.train.size(), 2U);
  EXPECT_EQ(config.data.train[0].target, "b");
  EXPECT_EQ(config.data.train[1].weight, 2.0);
  EXPECT_EQ(config.model.decoder.kind, DecoderKind::kRnnsearch);
  EXPECT_TRUE(config.model.layer_norm);
  EXPECT_EQ(config.model.dropout.embed, 0.5);
  EXPECT_EQ(config.model.dropout.readout, Config{}.model.dropout.readout);
}

TEST(ParseConfig, ByteOrderMarkAndCarriageReturnsAreFine) {
  EXPECT_EQ(problems_of("\xEF\xBB\xBF{\r\n\"seed\": 1\r\n}\r\n"), "");
  EXPECT_THAT(problems_of("{\r\n\r\n\"sed\": 1\r\n}"), HasSubstr("run.json:3: "));
}

TEST(ParseConfig, ReportsEveryProblemWithLineKeyFoundAndExpected) {
  const std::string problems = problems_of(R"({
  "learning_rat": 0.1,
  "threads": "five",
  "seed": 1.5,
  "model": {
    "hiden": 32,
    "decoder": {"kind": "rnnserch"},
    "layer_norm": "maybe",
    "dropout": []
  },
  "data": {"train": [{"source": 5}, 3]},
  "seed": 2,
  "validation": {"beam": 0},
  "training": {"beta1": 1e99}
})");
  for (const char* expected : {
           R"(run.json:2: unknown key "learning_rat"; did you mean training.learning_rate?)",
           R"(run.json:3: threads: found "five", expected an integer from 0 to 1024)",
           R"(run.json:4: seed: found 1.5, expected an integer from -1 to)",
           R"(run.json:6: unknown key "model.hiden"; did you mean model.hidden?)",
           R"(run.json:7: model.decoder.kind: found "rnnserch", expected one of "rnnsearch", )"
           R"("conditional"; did you mean "rnnsearch"?)",
           R"(run.json:8: model.layer_norm: found "maybe", expected true or false)",
           R"(run.json:9: model.dropout: found a list, expected an object)",
           R"(run.json:11: data.train[0].source: found 5, expected text)",
           R"(run.json:11: data.train[1]: found 3, expected an object)",
           R"(run.json:12: seed: given twice, first in line 4; keep one)",
           R"(run.json:13: validation.beam: found 0, expected an integer from 1 to 1000)",
           R"(run.json:14: training.beta1: found 1e99, expected a number from 0 to 0.999999)",
       }) {
    EXPECT_THAT(problems, HasSubstr(expected));
  }
  EXPECT_EQ(std::count(problems.begin(), problems.end(), '\n'), 11);
}

TEST(ParseConfig, KeysOfOtherSectionsAreSuggested) {
  EXPECT_THAT(problems_of(R"({"hidden": 3})"), HasSubstr("did you mean model.hidden?"));
  EXPECT_THAT(problems_of(R"({"zebra": 3})"), HasSubstr("known keys: output, seed"));
}

TEST(ParseConfig, NumbersBeyondTheirTypeAreOutOfRange) {
  EXPECT_THAT(problems_of(R"({"seed": 99999999999999999999})"),
              HasSubstr("seed: found 99999999999999999999, expected an integer"));
  EXPECT_THAT(problems_of(R"({"seed": 9007199254740992})"), HasSubstr("expected an integer"));
  EXPECT_EQ(problems_of(R"({"seed": 9007199254740991})"), "");
  EXPECT_THAT(problems_of(R"({"training": {"clip_norm": 1e999}})"),
              HasSubstr("run.json:1:33: not valid JSON: number overflow"));
}

TEST(ParseConfig, NullIsNotAValue) {
  EXPECT_THAT(problems_of(R"({"seed": null})"), HasSubstr("found null"));
  EXPECT_THAT(problems_of(R"({"output": null})"), HasSubstr("found null"));
}

TEST(ParseConfig, TextWithNulIsRefused) {
  EXPECT_THAT(problems_of(R"({"output": "a\u0000b"})"), HasSubstr("output: found"));
}

TEST(ParseConfig, SyntaxErrorsNameLineAndColumn) {
  EXPECT_THAT(problems_of(""), HasSubstr("it is empty"));
  EXPECT_THAT(problems_of(" \n"), HasSubstr("it is empty"));
  EXPECT_THAT(problems_of("{\n  \"seed\": 1,\n}"),
              HasSubstr("run.json:3:1: not valid JSON: a comma before } is not allowed"));
  EXPECT_THAT(problems_of(R"({"seed": 1e3x})"), ContainsRegex("run.json:1:1[0-9]: not valid JSON"));
  EXPECT_THAT(problems_of("{\n'seed': 1}"), HasSubstr("run.json:2:1: not valid JSON"));
  EXPECT_THAT(problems_of("{} {}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problems_of("/* open"), HasSubstr("not valid JSON"));
  EXPECT_THAT(problems_of("{\"output\": \"caf\xE9\"}"), HasSubstr("UTF-8"));
  EXPECT_THAT(problems_of("[1]"), HasSubstr("run.json:1: found a list, expected an object"));
}

TEST(ParseConfig, MessagesStayShortWhateverTheInput) {
  const std::string longest(500000, 'x');
  EXPECT_LT(problems_of("{\"" + longest + "\": 1}").size(), 1000U);
  EXPECT_LT(problems_of("{\"seed\": \"" + longest + "\"}").size(), 1000U);
  EXPECT_LT(problems_of("{\"seed\": \"" + longest).size(), 1000U);
  std::string many = "{";
  for (int i = 0; i < 20000; ++i) many += cat("\"k", i, "\": 1,\n");
  many += "\"z\": 1}";
  EXPECT_THAT(problems_of(many), HasSubstr("and 19901 more problems"));
  EXPECT_LT(problems_of(many).size(), 50000U);
}

TEST(ParseConfig, DeepAndLargeInputIsRefusedCleanly) {
  EXPECT_THAT(problems_of(std::string(1000000, '[')), HasSubstr("more than 32 levels"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(problems_of(objects), HasSubstr("more than 32 levels"));
  EXPECT_THAT(problems_of(std::string(2000000, ' ')), HasSubstr("2000000 bytes, expected at most"));
}

TEST(LoadConfig, ReadsAFileAndNamesItInMessages) {
  const auto path = std::filesystem::temp_directory_path() / cat("verso_load_", ::getpid());
  write_file_atomically(path, "{\"seed\": 7}");
  EXPECT_EQ(load_config(path).seed, 7);
  write_file_atomically(path, "{\n\"sed\": 7}");
  try {
    static_cast<void>(load_config(path));
    FAIL() << "an unknown key was taken";
  } catch (const ConfigError& problem) {
    EXPECT_THAT(problem.what(), HasSubstr(path.string() + ":2: "));
  }
  std::filesystem::remove(path);
  EXPECT_THROW(static_cast<void>(load_config(path)), ConfigError);
  EXPECT_THROW(static_cast<void>(load_config("/dev/zero")), ConfigError);
  EXPECT_THROW(static_cast<void>(load_config("/")), ConfigError);
}

RC_GTEST_PROP(ParseConfigProperty, AnyBytesGiveAConfigOrAConfigError, (const std::string& bytes)) {
  static_cast<void>(problems_of(bytes));
}

// Valid text with damage: bytes overwritten, taken out or doubled.
RC_GTEST_PROP(ParseConfigProperty, DamagedTextGivesAConfigOrAConfigError,
              (const std::vector<std::tuple<unsigned, char, unsigned>>& edits)) {
  Config config;
  config.data.train.resize(2);
  std::string text = write_config(config, Comments::kHelp);
  for (const auto& [position, byte, kind] : edits) {
    const std::size_t at = position % text.size();
    if (kind % 3 == 0) text[at] = byte;
    if (kind % 3 == 1) text.erase(at, 1 + position % 7);
    if (kind % 3 == 2) text.insert(at, text.substr(at / 2, position % 50));
  }
  static_cast<void>(problems_of(text));
}

}  // namespace
}  // namespace verso
