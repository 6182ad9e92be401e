#include "nn/packed.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace verso {
namespace {

TEST(PackedSentences, LieOneAfterAnother) {
  const Packed packed({3, 0, 5});
  EXPECT_EQ(packed.first, (std::vector<int64_t>{0, 3, 3}));
  EXPECT_EQ(packed.tokens, 8);
  EXPECT_EQ(packed.longest, 5);
  EXPECT_EQ(packed.sentences(), 3);
}

RC_GTEST_PROP(DealSentences, EveryTokenIsVisitedOnceAndInOrder, ()) {
  const auto count = *rc::gen::inRange<int64_t>(1, 9);
  const auto lengths = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 7));
  std::map<int64_t, int64_t> seen;
  for (const SentenceGroup& group : deal_sentences(lengths, count)) {
    RC_ASSERT(!group.members.empty());
    for (std::size_t t = 0; t < group.alive.size(); ++t) {
      RC_ASSERT(group.alive[t] > 0);
      for (int64_t r = 0; r < group.alive[t]; ++r) {
        RC_ASSERT(seen[group.members[static_cast<std::size_t>(r)]]++ == static_cast<int64_t>(t));
      }
    }
  }
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    RC_ASSERT(seen[static_cast<int64_t>(b)] == lengths[b]);
  }
}

}  // namespace
}  // namespace verso
