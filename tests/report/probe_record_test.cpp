#include "report/probe_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/report/support.h"

namespace verso {
namespace {

using test::Folder;
using test::probe_line;
using test::some_record;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;

std::vector<double> unpacked(const PackedMatrix& matrix) {
  std::vector<double> numbers;
  for (const std::int16_t number : matrix.numbers)
    numbers.push_back(number / 32767.0 * matrix.scale);
  return numbers;
}

TEST(ProbeRecord, HoldsWhatTheProbeWroteToFourFigures) {
  const GradientRecord written = some_record({"a", "b"}, {"x", "y", "z"});
  const ProbePair pair = read_probed_pair(probe_line(20, 3, written, "0-0 1p2"));
  EXPECT_EQ(pair.id, 3);
  EXPECT_THAT(pair.source, ElementsAre("a", "b"));
  EXPECT_THAT(pair.target, ElementsAre("x", "y", "z"));
  EXPECT_EQ(pair.rows(), 4U);
  EXPECT_EQ(pair.columns(), 3U);
  ASSERT_EQ(pair.gold.size(), 2U);
  EXPECT_FALSE(pair.gold[1].sure);
  ASSERT_EQ(pair.snapshots.size(), 1U);
  const ProbeSnapshot& snapshot = pair.snapshots[0];
  EXPECT_EQ(snapshot.update, 20);
  EXPECT_NEAR(snapshot.loss, 3, 1e-6);
  EXPECT_THAT(unpacked(snapshot.alpha), Pointwise(DoubleNear(2e-5), written.alpha));
  EXPECT_THAT(unpacked(snapshot.advantage), Pointwise(DoubleNear(1e-4), written.advantage));
  EXPECT_THAT(snapshot.mean, ElementsAre(10, 11, 12, 13));
  EXPECT_THAT(snapshot.context_gradient, ElementsAre(0.25, 0.5, 0.75, 1));
  EXPECT_THAT(snapshot.state_gradient, ElementsAre(1, 2, 3));
  EXPECT_THAT(snapshot.shares[3], Pointwise(DoubleNear(1e-6), std::vector<double>(3, -0.1)));
}

TEST(ProbeRecord, WhatWasNoNumberStaysNone) {
  GradientRecord written = some_record({"a"}, {"x"});
  written.alpha[1] = NAN;
  written.advantage.assign(4, INFINITY);
  written.loss = NAN;
  const ProbePair pair = read_probed_pair(probe_line(1, 0, written));
  const ProbeSnapshot& snapshot = pair.snapshots.at(0);
  EXPECT_EQ(snapshot.alpha.numbers[1], PackedMatrix::kMissing);
  EXPECT_NE(snapshot.alpha.numbers[0], PackedMatrix::kMissing);
  EXPECT_EQ(snapshot.advantage.scale, 1);
  EXPECT_TRUE(std::isnan(snapshot.loss));
}

TEST(ProbeRecord, PairsAreOrderedAndTheLaterOfTwoLinesCounts) {
  const Folder folder("order");
  folder.write("probe.jsonl", probe_line(20, 1, some_record({"a"}, {"x"}, 1)) +
                                  probe_line(10, 1, some_record({"a"}, {"x"}, 2)) +
                                  probe_line(10, 0, some_record({"b"}, {"y"}, 3)) +
                                  probe_line(20, 1, some_record({"a"}, {"x"}, 4)));
  DamagedLines damaged;
  const auto pairs = read_probe(folder.path("probe.jsonl"), damaged);
  EXPECT_EQ(damaged.count, 0);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0].id, 0);
  ASSERT_EQ(pairs[1].snapshots.size(), 2U);
  EXPECT_EQ(pairs[1].snapshots[0].update, 10);
  EXPECT_EQ(pairs[1].snapshots[1].update, 20);
  EXPECT_NEAR(pairs[1].snapshots[1].loss, 7, 1e-6);
}

TEST(ProbeRecord, LinesThatDoNotFitAreDamagedAndTheRestIsRead) {
  const Folder folder("damaged");
  const std::string good = probe_line(1, 0, some_record({"a", "b"}, {"x"}));
  GradientRecord short_row = some_record({"a", "b"}, {"x"});
  short_row.context_gradient.pop_back();
  std::string no_number = good;
  no_number.replace(no_number.find("\"loss\":") + 7, 1, "\"");
  folder.write("probe.jsonl", good + "{\n" + "[1]\n" + probe_line(2, 0, short_row) +
                                  probe_line(3, 0, some_record({"a", "other"}, {"x"})) +
                                  probe_line(4, 0, some_record({"a", "b"}, {"x"}), "5-0") +
                                  probe_line(-1, 0, some_record({"a", "b"}, {"x"})) + no_number +
                                  "\n" + probe_line(5, 0, some_record({"a", "b"}, {"x"})) +
                                  good.substr(0, good.size() / 2));
  DamagedLines damaged;
  const auto pairs = read_probe(folder.path("probe.jsonl"), damaged);
  EXPECT_EQ(damaged.count, 7);  // the torn last line is being written
  EXPECT_EQ(damaged.first, 2);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].snapshots.size(), 2U);
}

TEST(ProbeRecord, GoldLinksOfTheLastLineCount) {
  const Folder folder("gold");
  const GradientRecord record = some_record({"a"}, {"x"});
  folder.write("probe.jsonl", probe_line(1, 0, record) + probe_line(2, 0, record, "0-0"));
  DamagedLines damaged;
  EXPECT_EQ(read_probe(folder.path("probe.jsonl"), damaged).at(0).gold.size(), 1U);
}

TEST(ProbeRecord, NoFileIsNoPairs) {
  const Folder folder("none");
  DamagedLines damaged;
  EXPECT_TRUE(read_probe(folder.path("probe.jsonl"), damaged).empty());
}

TEST(ProbeRecord, APairWithoutTokensHasNoMatrix) {
  GradientRecord nothing;
  nothing.source = {"a"};
  const ProbePair pair = read_probed_pair(probe_line(1, 0, nothing));
  EXPECT_EQ(pair.rows(), 0U);
  EXPECT_EQ(pair.columns(), 1U);
  EXPECT_TRUE(pair.snapshots.at(0).alpha.numbers.empty());
}

// A line with bytes changed, left out or doubled is read or refused, never more.
RC_GTEST_PROP(ProbeRecord, MutatedLinesAreReadOrRefused, ()) {
  std::string line = probe_line(7, 0, some_record({"a", "b"}, {"x"}), "0-0");
  const int changes = *rc::gen::inRange(1, 4);
  for (int i = 0; i < changes; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, line.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        line[at] = *rc::gen::arbitrary<char>();
        break;
      case 1:
        line.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
        break;
      default:
        line.insert(at, line.substr(at, *rc::gen::inRange<std::size_t>(1, 40)));
    }
    if (line.empty()) break;
  }
  try {
    const ProbePair pair = read_probed_pair(line);
    RC_ASSERT(pair.snapshots.at(0).alpha.numbers.size() == pair.rows() * pair.columns());
  } catch (const DataError&) {
  }
}

}  // namespace
}  // namespace verso
