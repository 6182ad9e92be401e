#include "config/override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "config/write.h"

namespace verso {
namespace {

using testing::HasSubstr;

Config with(const std::vector<std::string>& overrides) {
  Config config;
  apply_overrides(config, overrides);
  return config;
}

std::string problems_of(const std::vector<std::string>& overrides) {
  try {
    static_cast<void>(with(overrides));
  } catch (const ConfigError& problem) {
    return problem.what();
  }
  return {};
}

TEST(ApplyOverrides, SetsValuesByTheirType) {
  const Config config = with({"output=runs/a b=c", "seed=42", "model.dropout.embed=0.5",
                              "model.layer_norm=true", "vocabulary.kind=word"});
  EXPECT_EQ(config.output, "runs/a b=c");
  EXPECT_EQ(config.seed, 42);
  EXPECT_EQ(config.model.dropout.embed, 0.5);
  EXPECT_TRUE(config.model.layer_norm);
  EXPECT_EQ(config.vocabulary.kind, VocabularyKind::kWord);
}

TEST(ApplyOverrides, TextMayLookLikeAnythingAndMayBeQuoted) {
  EXPECT_EQ(with({"output=5"}).output, "5");
  EXPECT_EQ(with({"output=true"}).output, "true");
  EXPECT_EQ(with({"output="}).output, "");
  EXPECT_EQ(with({R"(output="a\tb")"}).output, "a\tb");
  EXPECT_EQ(with({R"(output="odd)"}).output, "\"odd");
  EXPECT_EQ(with({R"(vocabulary.kind="char")"}).vocabulary.kind, VocabularyKind::kChar);
}

TEST(ApplyOverrides, LaterOnesWin) { EXPECT_EQ(with({"seed=1", "seed=2"}).seed, 2); }

TEST(ApplyOverrides, ReachesElementsOfLists) {
  const Config config = with({"data.train[0].source=a", "data.train.0.target=b",
                              "data.train[1].tsv=c", "data.train[1].weight=2"});
  ASSERT_EQ(config.data.train.size(), 2U);
  EXPECT_EQ(config.data.train[0].source, "a");
  EXPECT_EQ(config.data.train[0].target, "b");
  EXPECT_EQ(config.data.train[1].tsv, "c");
  EXPECT_EQ(config.data.train[1].weight, 2);
}

TEST(ApplyOverrides, TakesJsonForListsAndSections) {
  const Config config = with({"data.train[0].source=gone", R"(data.train=[{"tsv": "a"}])",
                              R"(model.dropout={"embed": 0.1})"});
  ASSERT_EQ(config.data.train.size(), 1U);
  EXPECT_EQ(config.data.train[0].tsv, "a");
  EXPECT_EQ(config.data.train[0].source, "");
  EXPECT_EQ(config.model.dropout.embed, 0.1);
  EXPECT_EQ(config.model.dropout.readout, Config{}.model.dropout.readout);
}

TEST(ApplyOverrides, ReportsEveryProblemAndChangesNothing) {
  Config config;
  config.threads = 3;
  std::string problems;
  try {
    apply_overrides(config, {"threads=1", "threads=five", "=", "=1", "", "seed=1.5", "x", "x=1",
                             "hiden=3", "model.hidden.x=3", "model=3", "data.train=3",
                             "data.train[1].tsv=a", "data.train.source=a", "data.train[0].sorce=a",
                             "seed=", "model.layer_norm=yes", "model.tie=al", "output=a\xFF"});
  } catch (const ConfigError& problem) {
    problems = problem.what();
  }
  EXPECT_EQ(config.threads, 3);
  for (const char* expected : {
           R"(--set "threads=five": threads: found "five", expected an integer from 0 to 1024)",
           R"(--set "=": expected key=value)",
           R"(--set "=1": expected key=value)",
           R"(--set "": expected key=value)",
           R"(--set "seed=1.5": seed: found 1.5, expected an integer)",
           R"(--set "x": expected key=value)",
           R"(--set "x=1": unknown key "x"; known keys: output)",
           R"(--set "hiden=3": unknown key "hiden"; did you mean model.hidden?)",
           R"(model.hidden: this is a single value)",
           R"(--set "model=3": model: found 3, expected an object)",
           R"(data.train: found 3, expected a list of objects)",
           R"(data.train: found index 1, expected at most 0)",
           R"(data.train: found "source", expected an index)",
           R"(unknown key "data.train[0].sorce"; did you mean data.train[0].source?)",
           R"(seed: found "", expected an integer)",
           R"(model.layer_norm: found "yes", expected true or false)",
           R"(did you mean "all"?)",
           R"(not valid UTF-8)",
       }) {
    EXPECT_THAT(problems, HasSubstr(expected));
  }
}

TEST(ApplyOverrides, OddPathsAreUnknownKeys) {
  for (const char* odd : {"a..b=1", ".=1", "..=1", "[=1", "]=1", "model.=1", "model..hidden=1",
                          "data.train[=1", "data.train[]=1", "data.train[-1].tsv=a",
                          "data.train[99999999999999999999].tsv=a", "data.train[0=1"}) {
    EXPECT_NE(problems_of({odd}), "") << odd;
  }
}

TEST(ApplyOverrides, DeepValuesAreRefused) {
  EXPECT_NE(problems_of({"data.train=" + std::string(100000, '[')}), "");
}

RC_GTEST_PROP(ApplyOverridesProperty, AnyBytesGiveAConfigOrAConfigError,
              (const std::string& key, const std::string& value)) {
  static_cast<void>(problems_of({key + "=" + value}));
  static_cast<void>(problems_of({key}));
}

// What flatten() writes, --set reads.
TEST(ApplyOverrides, SetsEveryKeyToItsWrittenValue) {
  Config config;
  config.data.train.resize(2);
  std::vector<std::string> overrides;
  for (const auto& [path, value] : flatten(config)) overrides.push_back(path + "=" + value);
  Config again;
  apply_overrides(again, overrides);
  EXPECT_TRUE(differences(config, again).empty());
}

}  // namespace
}  // namespace verso
