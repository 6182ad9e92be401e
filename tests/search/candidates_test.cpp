#include "search/candidates.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace verso {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

RC_GTEST_PROP(BestCandidates, AreTheFirstOfAllSorted, ()) {
  const auto slots = *rc::gen::inRange<int64_t>(1, 5);
  const auto vocab = *rc::gen::inRange<int64_t>(1, 40);
  const auto capacity = *rc::gen::inRange<int64_t>(1, 30);
  // Few different values, so that there are ties; some words are impossible.
  const auto values = *rc::gen::container<std::vector<int>>(static_cast<std::size_t>(slots * vocab),
                                                            rc::gen::inRange(0, 9));
  std::vector<float> rows;
  for (const int value : values) rows.push_back(value == 0 ? kImpossible : -0.37F * value);
  BestCandidates best(capacity);
  std::vector<Candidate> all;
  for (int64_t slot = 0; slot < slots; ++slot) {
    const double sum = -0.37 * static_cast<double>(slot);
    const float* row = rows.data() + slot * vocab;
    best.show_row(row, vocab, slot, sum);
    for (int64_t word = 0; word < vocab; ++word) {
      if (row[word] != kImpossible) {
        all.push_back({sum + row[word], slot, static_cast<std::int32_t>(word), row[word]});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.sum > b.sum; });
  all.resize(std::min(all.size(), static_cast<std::size_t>(capacity)));
  const std::vector<Candidate> found = best.take();
  RC_ASSERT(found.size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    RC_ASSERT(found[i].slot == all[i].slot);
    RC_ASSERT(found[i].word == all[i].word);
  }
}

TEST(DrawWord, FollowsTheTemperedProbabilities) {
  const std::vector<float> row{kImpossible, std::log(0.6F), std::log(0.3F), std::log(0.1F)};
  Random random(5);
  for (const double temperature : {1.0, 0.5}) {
    std::vector<double> share(4);
    constexpr int kDraws = 20000;
    for (int i = 0; i < kDraws; ++i) {
      share[static_cast<std::size_t>(draw_word(row.data(), 4, temperature, 0, random))] +=
          1.0 / kDraws;
    }
    double total = 0;
    for (const double p : {0.6, 0.3, 0.1}) total += std::pow(p, 1 / temperature);
    EXPECT_EQ(share[0], 0);
    EXPECT_NEAR(share[1], std::pow(0.6, 1 / temperature) / total, 0.02);
    EXPECT_NEAR(share[2], std::pow(0.3, 1 / temperature) / total, 0.02);
  }
}

TEST(DrawWord, StaysAmongTheBest) {
  const std::vector<float> row{-3, -1, -2, -1.5};
  Random random(6);
  std::vector<int> drawn(4);
  for (int i = 0; i < 500; ++i) {
    ++drawn[static_cast<std::size_t>(draw_word(row.data(), 4, 5.0, 2, random))];
  }
  EXPECT_EQ(drawn[0] + drawn[2], 0);
  EXPECT_GT(std::min(drawn[1], drawn[3]), 0);
}

TEST(DrawWord, NothingPossible) {
  const std::vector<float> row{kImpossible, std::numeric_limits<float>::quiet_NaN()};
  Random random(7);
  EXPECT_EQ(draw_word(row.data(), 2, 1.0, 0, random), -1);
}

}  // namespace
}  // namespace verso
