#include "align/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "base/error.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

using testing::HasSubstr;

/// Source a b and the end, target x y z and the end; the end has most of the weight of y.
SoftAlignment sample() {
  return {.source = {"a", "b"},
          .target = {"x", "y", "z"},
          .source_end = true,
          .target_end = true,
          .weights = {0.2F, 0.7F, 0.1F,  //
                      0.2F, 0.1F, 0.7F,  //
                      0.4F, 0.4F, 0.2F,  //
                      0.9F, 0.05F, 0.05F}};
}

TEST(Links, OnePerTargetWordWithTheEndLeftOutAndTheLowestIndexOfEquals) {
  EXPECT_EQ(format_links(extract_links(sample())), "0-1 0-2 1-0");
}

TEST(Links, OnePerSourceWordNeverTakesTheTargetsEnd) {
  EXPECT_EQ(format_links(extract_links(sample(), LinkRule::kPerSource)), "0-2 1-0");
}

TEST(Links, ThresholdTakesAllAtLeastThatStrong) {
  EXPECT_EQ(format_links(extract_links(sample(), LinkRule::kThreshold, 0.4F)), "0-2 1-0 1-2");
  EXPECT_EQ(format_links(extract_links(sample(), LinkRule::kThreshold, 2)), "");
}

TEST(Links, WeightsAndWordsCanBeShown) {
  const auto links = extract_links(sample());
  EXPECT_EQ(format_links(links, true), "0-1:0.2000 0-2:0.4000 1-0:0.7000");
  EXPECT_EQ(format_links_with_words(links, sample()), "0-1 a y\t0-2 a z\t1-0 b x");
  EXPECT_EQ(format_links_with_words(links, sample(), true),
            "0-1:0.2000 a y\t0-2:0.4000 a z\t1-0:0.7000 b x");
}

TEST(Links, AnEmptySideGivesNoLinks) {
  EXPECT_TRUE(extract_links({}).empty());
  EXPECT_TRUE(extract_links({.source = {"a"}}).empty());
  EXPECT_TRUE(extract_links({.target = {"x"}, .source_end = true, .weights = {1}}).empty());
}

TEST(Links, AWeightlessRowStillHasItsLink) {
  const SoftAlignment alignment{.source = {"a", "b"}, .target = {"x"}, .weights = {0, 0}};
  EXPECT_EQ(format_links(extract_links(alignment), true), "0-0:0.0000");
}

TEST(ParseLinks, ReadsEveryNotation) {
  const auto links = parse_links(" 0-1 2p3\t4?5 6-7:0.25 ", "f:1");
  EXPECT_EQ(links, (std::vector<Link>{
                       {0, 1, 1, true}, {2, 3, 1, false}, {4, 5, 1, false}, {6, 7, 0.25F, true}}));
  EXPECT_EQ(parse_links("1-1 2p1", "f:1", 1),
            (std::vector<Link>{{0, 0, 1, true}, {1, 0, 1, false}}));
  EXPECT_TRUE(parse_links("  \t", "f:1").empty());
}

std::string error_of(std::string_view line, std::int32_t first_index = 0) {
  try {
    (void)parse_links(line, "links.txt:3", first_index);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParseLinks, AnythingElseIsAnErrorThatNamesTheLine) {
  EXPECT_EQ(error_of("0 0"),
            "links.txt:3: \"0\" is not a link; expected source-target as in 0-0 (0p0 or 0?0 for a "
            "possible one), perhaps with a weight as in 0-0:0.5");
  for (const char* line : {"-1-0", "0--1", "0-", "-", "a-b", "0-0-0", "0-0:", "0-0:nan", "0-0:x",
                           "99999999999-0", "0-0,1-1", "+1-1", "0-1p", "\xff", "0-0:0.5:1"}) {
    EXPECT_THAT(error_of(line), HasSubstr("links.txt:3: ")) << line;
  }
  EXPECT_EQ(error_of("1-1 0-1", 1),
            "links.txt:3: link \"0-1\" has an index below 1, from which this file is said to "
            "count");
}

TEST(CheckLinks, IndicesPastThePairAreAnErrorInTheFilesOwnNumbers) {
  const auto message = [](const Link& link, std::int64_t source, std::int64_t target,
                          std::int32_t first) -> std::string {
    try {
      check_links({link}, source, target, "links.txt:3", first);
    } catch (const DataError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({9, 0}, 3, 1, 0),
            "links.txt:3: link 9-0, but the source line has 3 tokens: expected a source index from "
            "0 to 2");
  EXPECT_EQ(message({0, 2}, 3, 2, 1),
            "links.txt:3: link 1-3, but the target line has 2 tokens: expected a target index from "
            "1 to 2");
  EXPECT_EQ(message({0, 0}, 0, 2, 0),
            "links.txt:3: link 0-0, but the source line has no tokens: expected no link");
  EXPECT_EQ(message({2, 1}, 3, 2, 0), "accepted");
}

RC_GTEST_PROP(ParseLinks, ReadsWhatIsWritten, ()) {
  std::vector<Link> links;
  for (const auto& [source, target] :
       *rc::gen::container<std::vector<std::pair<std::int32_t, std::int32_t>>>(rc::gen::pair(
           rc::gen::nonNegative<std::int32_t>(), rc::gen::nonNegative<std::int32_t>()))) {
    links.push_back({source, target, 0.25F, *rc::gen::arbitrary<bool>()});
  }
  RC_ASSERT(parse_links(format_links(links, true), "f:1") == links);
}

RC_GTEST_PROP(ParseLinks, AnyBytesAreReadOrRefused, (const std::string& line)) {
  try {
    for (const Link& link : parse_links(line, "f:1")) {
      RC_ASSERT(link.source >= 0 && link.target >= 0);
    }
  } catch (const DataError& error) {
    RC_ASSERT(std::string(error.what()).starts_with("f:1: "));
  }
}

/// AER of published alignments, to 1e-4 of a percent. Gold counts from 1, hypotheses from 0;
/// *.reverse.talp are target-source.
void check_published(const std::string& set) {
  const auto folder = test::shared_data() / set;
  SKIP_WITHOUT(folder);
  auto rows = test::read_lines(folder / "AER_EXPECTED.tsv");
  ASSERT_GT(rows.size(), 10U);
  rows.erase(rows.begin());
  for (const std::string& row : rows) {
    SCOPED_TRACE(row);
    std::istringstream in(row);
    std::string hypothesis, gold;
    double aer = 0, precision = 0, recall = 0;
    std::int64_t count = 0;
    in >> hypothesis >> gold >> aer >> precision >> recall >> count;
    const auto lines = test::read_lines(folder / hypothesis);
    const auto gold_lines = test::read_lines(folder / gold);
    ASSERT_EQ(lines.size(), gold_lines.size());
    AlignmentErrors errors;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto links = parse_links(lines[i], hypothesis);
      if (hypothesis.find(".reverse.") != std::string::npos) {
        for (Link& link : links) std::swap(link.source, link.target);
      }
      add_links(errors, links, parse_links(gold_lines[i], gold, 1));
    }
    EXPECT_NEAR(100 * errors.aer(), aer, 1e-4);
    EXPECT_NEAR(100 * errors.precision(), precision, 1e-4);
    EXPECT_NEAR(100 * errors.recall(), recall, 1e-4);
    EXPECT_EQ(errors.links(), count);
  }
}

TEST(Links, PublishedErrorRatesOfGermanEnglishAreMet) { check_published("align_deen"); }
TEST(Links, PublishedErrorRatesOfEnglishFrenchAreMet) { check_published("align_enfr"); }
TEST(Links, PublishedErrorRatesOfRomanianEnglishAreMet) { check_published("align_roen"); }

}  // namespace
}  // namespace verso
