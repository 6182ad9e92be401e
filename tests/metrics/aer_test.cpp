#include "metrics/aer.h"

#include <gtest/gtest.h>

namespace verso {
namespace {

TEST(Aer, FollowsTheDefinition) {
  AlignmentErrors errors;
  errors.add({{0, 0}, {1, 1}, {2, 2}, {3, 0}}, {{0, 0}, {1, 1}}, {{2, 2}, {2, 1}});
  EXPECT_EQ(errors.links(), 4);
  EXPECT_EQ(errors.sure(), 2);
  EXPECT_EQ(errors.possible(), 4);
  EXPECT_DOUBLE_EQ(errors.precision(), 3.0 / 4);
  EXPECT_DOUBLE_EQ(errors.recall(), 1.0);
  EXPECT_DOUBLE_EQ(errors.f1(), 2 * 0.75 / 1.75);
  EXPECT_DOUBLE_EQ(errors.aer(), 1 - (2.0 + 3.0) / (4 + 2));
}

TEST(Aer, SumsOverSentencesAndDropsRepeats) {
  AlignmentErrors errors;
  errors.add({{0, 0}, {0, 0}}, {{0, 0}, {0, 0}}, {{0, 0}});
  errors.add({{5, 5}}, {{4, 4}}, {});
  EXPECT_EQ(errors.links(), 2);
  EXPECT_EQ(errors.sure(), 2);
  EXPECT_DOUBLE_EQ(errors.aer(), 0.5);
}

TEST(Aer, NothingAtAllIsFinite) {
  AlignmentErrors errors;
  EXPECT_EQ(errors.aer(), 0);
  errors.add({}, {}, {});
  EXPECT_EQ(errors.aer(), 0);
  EXPECT_EQ(errors.precision(), 0);
  EXPECT_EQ(errors.recall(), 0);
  EXPECT_EQ(errors.f1(), 0);
  errors.add({}, {{0, 0}}, {});
  EXPECT_EQ(errors.aer(), 1);
}

}  // namespace
}  // namespace verso
