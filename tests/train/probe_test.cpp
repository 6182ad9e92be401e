#include "train/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/train/toy_run.h"

namespace verso {
namespace {

using test::Recorder;
using test::ToyRun;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::int64_t> due_until(const ProbeConfig& config, std::int64_t last) {
  std::vector<std::int64_t> due;
  for (std::int64_t update = 0; update <= last; ++update) {
    if (probe_due(config, update)) due.push_back(update);
  }
  return due;
}

std::vector<nlohmann::json> lines_of(const std::string& path, const std::string& kind = "") {
  std::vector<nlohmann::json> lines;
  std::istringstream in(read_file(path));
  for (std::string line; std::getline(in, line);) {
    lines.push_back(nlohmann::json::parse(line));
    if (!kind.empty() && lines.back()["kind"] != kind) lines.pop_back();
  }
  return lines;
}

TEST(ProbeDue, IsDenseAtTheStartAndEvenLater) {
  EXPECT_THAT(due_until({4, 20, 4}, 65), ElementsAre(0, 1, 2, 3, 6, 10, 18, 20, 40, 60));
  EXPECT_THAT(due_until({4, 0, 2}, 120), ElementsAre(0, 1, 3, 10, 32, 100));
  EXPECT_THAT(due_until({4, 50, 0}, 120), ElementsAre(0, 50, 100));
  EXPECT_THAT(due_until({4, 0, 0}, 120), ElementsAre(0));
}

TEST(Probe, LooksAtItsPairsAtChosenUpdates) {
  const ToyRun toy("probe-looks");
  Config config = toy.config("run");
  config.probe = {3, 20, 2};
  Recorder recorder;
  static_cast<void>(ToyRun::run(config, recorder));
  const auto lines = lines_of(toy.path("run/probe.jsonl"));
  const auto scores = lines_of(toy.path("run/metrics.jsonl"), "probe");
  ASSERT_EQ(lines.size(), 3 * scores.size());
  std::vector<std::int64_t> updates;
  for (const auto& score : scores) updates.push_back(score["update"]);
  EXPECT_THAT(updates, ElementsAre(0, 1, 3, 10, 20, 40, 60));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["update"], updates[i / 3]);
    EXPECT_EQ(lines[i]["pair"], i % 3);
    EXPECT_EQ(lines[i]["source"], lines[i % 3]["source"]);
    EXPECT_FALSE(lines[i].contains("links"));
  }
  EXPECT_LT(scores.back()["loss"], scores.front()["loss"]);
  EXPECT_TRUE(scores.back()["aer"].is_null());
}

TEST(Probe, WithGoldLinksScoresThem) {
  const ToyRun toy("probe-links");
  std::ofstream(toy.path("probe.tsv")) << "a b\tA B\nc\tC\n";
  std::ofstream(toy.path("probe.links")) << "0-0 1-1\n0-0\n";
  Config config = toy.config("run");
  config.data.probe.tsv = toy.path("probe.tsv");
  config.data.probe.links = toy.path("probe.links");
  config.training.max_updates = 2;
  Recorder recorder;
  static_cast<void>(ToyRun::run(config, recorder));
  const auto scores = lines_of(toy.path("run/metrics.jsonl"), "probe");
  ASSERT_FALSE(scores.empty());
  EXPECT_GE(scores.back()["aer"], 0);
  EXPECT_LE(scores.back()["aer"], 1);
  const auto lines = lines_of(toy.path("run/probe.jsonl"));
  EXPECT_EQ(lines[0]["links"], "0-0 1-1");
  EXPECT_THAT(lines[1]["source"], ElementsAre("c"));
}

TEST(Probe, ChangesNothingOfTheRun) {
  const ToyRun toy("probe-same");
  Config with = toy.config("with"), without = toy.config("without");
  with.probe = {3, 5, 8};
  without.probe.pairs = 0;
  Recorder recorder;
  static_cast<void>(ToyRun::run(with, recorder));
  static_cast<void>(ToyRun::run(without, recorder));
  EXPECT_TRUE(test::same_bits(load_checkpoint(toy.path("with/last.safetensors"), torch::kCPU),
                              load_checkpoint(toy.path("without/last.safetensors"), torch::kCPU)));
  EXPECT_FALSE(std::filesystem::exists(toy.path("without/probe.jsonl")));
}

TEST(Probe, OfAResumedRunIsThatOfOneThatNeverStopped) {
  const ToyRun toy("probe-resume");
  Config whole = toy.config("whole"), parts = toy.config("parts");
  whole.probe = parts.probe = {2, 7, 3};
  Recorder recorder;
  static_cast<void>(ToyRun::run(whole, recorder));
  static_cast<void>(ToyRun::run(parts, recorder, RunMode::kFresh, 14));
  static_cast<void>(ToyRun::run(parts, recorder, RunMode::kResume, 40));
  // What a process wrote after its last checkpoint before it was killed.
  std::ofstream(toy.path("parts/probe.jsonl"), std::ios::app)
      << R"({"update":49,"pair":0,"source":["a"],"target":["A"]})"
      << "\n{\"update\":4";
  static_cast<void>(ToyRun::run(parts, recorder, RunMode::kResume));
  EXPECT_EQ(read_file(toy.path("whole/probe.jsonl")), read_file(toy.path("parts/probe.jsonl")));
}

TEST(Probe, ForgetsLooksAtOtherPairs) {
  const ToyRun toy("probe-other");
  Config config = toy.config("run");
  config.probe = {2, 10, 0};
  config.training.max_updates = 20;
  Recorder recorder;
  static_cast<void>(ToyRun::run(config, recorder));
  std::ofstream(toy.path("other.tsv")) << "a b c d e f g h\tA B C D E F G H\n";
  config.data.probe.tsv = toy.path("other.tsv");
  config.training.max_updates = 30;
  static_cast<void>(ToyRun::run(config, recorder, RunMode::kResume));
  const auto lines = lines_of(toy.path("run/probe.jsonl"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["update"], 30);
}

TEST(Probe, WithoutAPairThatFitsIsAnErrorThatLosesNothing) {
  const ToyRun toy("probe-empty");
  Config config = toy.config("run");
  config.training.max_updates = 2;
  Recorder recorder;
  static_cast<void>(ToyRun::run(config, recorder));
  std::ofstream(toy.path("empty.tsv")) << "a b\t\n\tA\n";
  config.data.probe.tsv = toy.path("empty.tsv");
  try {
    static_cast<void>(ToyRun::run(config, recorder, RunMode::kOverwrite));
    FAIL() << "nothing thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("empty.tsv"));
    EXPECT_THAT(error.what(), HasSubstr("none of 2 pairs"));
  }
  EXPECT_TRUE(std::filesystem::exists(toy.path("run/last.safetensors")));
}

}  // namespace
}  // namespace verso
