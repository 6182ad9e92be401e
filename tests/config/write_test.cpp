#include "config/write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "config/load.h"
#include "tests/config/random_config.h"

namespace verso {
namespace {

using testing::HasSubstr;

TEST(WriteConfig, DefaultsLoadAgainWithAndWithoutComments) {
  for (const Comments comments : {Comments::kNone, Comments::kHelp}) {
    const std::string text = write_config(Config{}, comments);
    EXPECT_TRUE(differences(parse_config(text, "written"), Config{}).empty()) << text;
  }
}

TEST(WriteConfig, CommentsShowHelpAndWhatAListHolds) {
  const std::string text = write_config(Config{}, Comments::kHelp);
  EXPECT_THAT(text, HasSubstr("  // run folder\n  \"output\": \"\",\n"));
  EXPECT_THAT(text, HasSubstr("      //   \"tsv\": \"\",\n"));
}

RC_GTEST_PROP(WriteConfigProperty, WhatIsWrittenLoadsAsTheSame, ()) {
  const Config config = testing_support::random_config();
  for (const Comments comments : {Comments::kNone, Comments::kHelp}) {
    const Config again = parse_config(write_config(config, comments), "written");
    RC_ASSERT(flatten(again) == flatten(config));
    RC_ASSERT(write_config(again) == write_config(config));
  }
}

TEST(Differences, NameKeyAndBothValues) {
  Config first;
  Config second;
  second.model.hidden = 512;
  second.output = "runs/b";
  second.data.train.resize(1);
  second.data.train[0].tsv = "c";
  const auto found = differences(first, second);
  ASSERT_EQ(found.size(), 2U + 6U);
  EXPECT_EQ(found[0].path, "output");
  EXPECT_EQ(found[0].first, "\"\"");
  EXPECT_EQ(found[0].second, "\"runs/b\"");
  EXPECT_EQ(found[1].path, "model.hidden");
  EXPECT_EQ(found[1].first, "256");
  EXPECT_EQ(found[1].second, "512");
  EXPECT_EQ(found[4].path, "data.train[0].tsv");
  EXPECT_EQ(found[4].first, "");
  EXPECT_EQ(found[4].second, "\"c\"");
  EXPECT_EQ(differences(second, first)[4].second, "");
}

RC_GTEST_PROP(DifferencesProperty, ThereAreNoneBetweenEqualConfigs, ()) {
  const Config config = testing_support::random_config();
  RC_ASSERT(differences(config, config).empty());
}

}  // namespace
}  // namespace verso
