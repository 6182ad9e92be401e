#include "align/symmetrize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/corpus.h"
#include "tests/metrics/test_data.h"

namespace verso {
namespace {

std::string merged(const std::string& forward, const std::string& reverse, Symmetrization method) {
  return format_links(symmetrize(parse_links(forward, "F"), parse_links(reverse, "R"), method));
}

TEST(Symmetrize, MethodsDifferAsTheHeaderSays) {
  // 1-1 is in both; 1-2 touches it and only its target is free; 2-2 would touch 1-1 with both free,
  // were it a candidate; 4-4 and 4-5 touch nothing.
  const std::string forward = "1-1 1-2 4-4", reverse = "1-1 4-5";
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kIntersection), "1-1");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kUnion), "1-1 1-2 4-4 4-5");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kGrowDiag), "1-1 1-2");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kGrowDiagFinal), "1-1 1-2 4-4 4-5");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kGrowDiagFinalAnd), "1-1 1-2 4-4");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kGrowDiagonal), "1-1");
  EXPECT_EQ(merged(forward, reverse, Symmetrization::kGrowDiagonalFinal), "1-1 4-4");
}

TEST(Symmetrize, GrowthReachesWhatItsOwnLinksTouch) {
  EXPECT_EQ(merged("3-3 2-2 1-1 0-0", "3-3", Symmetrization::kGrowDiagonal), "0-0 1-1 2-2 3-3");
}

TEST(Symmetrize, TheFirstNeighbourOfTheOrderWins) {
  EXPECT_EQ(merged("1-1 0-0 0-2", "1-1", Symmetrization::kGrowDiagonal), "0-2 1-1");
}

TEST(Symmetrize, IndicesAtTheEndOfTheRangeAreNoTrouble) {
  EXPECT_EQ(merged("2147483647-0 2147483646-1", "2147483647-0", Symmetrization::kGrowDiag),
            "2147483646-1 2147483647-0");
}

std::string agreed(const std::string& forward, const std::string& reverse, float threshold) {
  return format_links(
      agreeing_links(parse_links(forward, "F"), parse_links(reverse, "R"), threshold), true);
}

TEST(Symmetrize, AgreementIsTheGeometricMeanOfBothWeights) {
  EXPECT_EQ(agreed("2-1:0.4 0-0:0.9", "0-0:0.4 2-1:0.1 3-3:1", 0.2F), "0-0:0.6000 2-1:0.2000");
  EXPECT_EQ(agreed("0-0:0.9 2-1:0.4", "0-0:0.4 2-1:0.1", 0.3F), "0-0:0.6000");
  EXPECT_EQ(agreed("0-0 1-1", "1-1 2-2", 1.0F), "1-1:1.0000");  // without weights: both
  EXPECT_EQ(agreed("0-0:0.1 0-0:0.5", "0-0:0.5 0-0:0.2", 0.2F), "0-0:0.5000");
  EXPECT_EQ(agreed("", "0-0", 0.2F), "");
  const auto huge = agreeing_links({{0, 0, 1e30F}}, {{0, 0, 1e30F}}, 0.2F);
  EXPECT_FLOAT_EQ(huge.at(0).weight, 1e30F);
}

TEST(Symmetrize, SidesAreSwapped) {
  EXPECT_EQ(format_links(swap_sides(parse_links("0-1 2p3", "x"))), "1-0 3p2");
}

std::vector<Link> random_links() {
  const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 7), rc::gen::inRange(0, 7)));
  std::vector<Link> links;
  for (const auto& [source, target] : pairs) links.push_back({source, target});
  return links;
}

std::set<WordPair> set_of(const std::vector<Link>& links) {
  std::set<WordPair> set;
  for (const Link& link : links) set.emplace(link.source, link.target);
  return set;
}

RC_GTEST_PROP(Symmetrize, EveryMethodLiesBetweenIntersectionAndUnion, ()) {
  const auto forward = random_links(), reverse = random_links();
  const auto both = set_of(symmetrize(forward, reverse, Symmetrization::kIntersection));
  const auto either = set_of(symmetrize(forward, reverse, Symmetrization::kUnion));
  for (const auto& [method, name] : enum_names<Symmetrization>) {
    const auto links = symmetrize(forward, reverse, method);
    const auto set = set_of(links);
    RC_ASSERT(set.size() == links.size());
    RC_ASSERT(std::includes(set.begin(), set.end(), both.begin(), both.end()));
    RC_ASSERT(std::includes(either.begin(), either.end(), set.begin(), set.end()));
    RC_ASSERT(format_links(symmetrize(forward, forward, method)) ==
              format_links(symmetrize(forward, forward, Symmetrization::kUnion)));
  }
}

RC_GTEST_PROP(Symmetrize, FinalLeavesNoFreeWordThatALinkOffers, ()) {
  const auto forward = random_links(), reverse = random_links();
  const auto links = symmetrize(forward, reverse, Symmetrization::kGrowDiagFinal);
  for (const auto& [source, target] :
       set_of(symmetrize(forward, reverse, Symmetrization::kUnion))) {
    RC_ASSERT(std::any_of(links.begin(), links.end(),
                          [s = source](const Link& link) { return link.source == s; }));
    RC_ASSERT(std::any_of(links.begin(), links.end(),
                          [t = target](const Link& link) { return link.target == t; }));
  }
}

/// Reads a published file, 0-based.
std::vector<std::vector<Link>> read_links(const std::string& path) {
  std::vector<std::vector<Link>> lines;
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    lines.push_back(parse_links(line, cat(path, ":", reader.line_number())));
  }
  return lines;
}

TEST(Symmetrize, EqualsThePublishedFilesLinkForLink) {
  if (!std::filesystem::exists(test::shared_data() / "align_deen"))
    GTEST_SKIP() << "no shared data";
  for (const std::string set : {"deen", "enfr", "roen"}) {
    for (const std::string tool : {"fastalign", "giza"}) {
      const std::string stem = cat(test::shared_data().string(), "/align_", set, "/published/",
                                   tool, "/test.", set, ".");
      const auto forward = read_links(stem + "talp"), reverse = read_links(stem + "reverse.talp");
      ASSERT_EQ(forward.size(), reverse.size());
      for (const Symmetrization method :
           {Symmetrization::kIntersection, Symmetrization::kUnion, Symmetrization::kGrowDiagonal,
            Symmetrization::kGrowDiagonalFinal}) {
        const std::string path = cat(stem, enum_name(method), ".talp");
        const auto published = read_links(path);
        ASSERT_EQ(published.size(), forward.size());
        for (std::size_t i = 0; i < published.size(); ++i) {
          ASSERT_EQ(set_of(symmetrize(forward[i], swap_sides(reverse[i]), method)),
                    set_of(published[i]))
              << path << ":" << i + 1;
        }
      }
    }
  }
}

}  // namespace
}  // namespace verso
