#include "report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/report/support.h"

namespace verso {
namespace {

using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

std::string train(std::int64_t update, double loss, double elapsed = 1) {
  return cat("{\"kind\":\"train\",\"update\":", update, ",\"loss\":", loss,
             ",\"learning_rate\":0.1,\"elapsed\":", elapsed, "}\n");
}

std::string validation(std::int64_t update, double bleu, double best, std::int64_t best_update) {
  return cat("{\"kind\":\"validation\",\"update\":", update, ",\"bleu\":", bleu,
             ",\"aer\":null,\"metric\":\"bleu\",\"best\":", best, ",\"best_update\":", best_update,
             ",\"bleu_signature\":\"nrefs:1\",\"elapsed\":5}\n");
}

TEST(RunRecord, ReadsCurvesBestAndEnd) {
  const Folder folder("curves");
  folder.write("config.json", "{}");
  folder.write("metrics.jsonl",
               train(10, 5) + validation(10, 7, 7, 10) + train(20, 4, 9) +
                   "{\"kind\":\"probe\",\"update\":20,\"entropy\":1.5,\"value_share\":0.75}\n" +
                   validation(20, 6, 7, 10) +
                   "{\"kind\":\"end\",\"update\":20,\"reason\":\"done\"}\n");
  const RunRecord run = read_run(folder.path());
  EXPECT_THAT(run.train.updates, ElementsAre(10, 20));
  EXPECT_THAT(run.train.column("loss"), ElementsAre(5, 4));
  EXPECT_TRUE(std::isnan(run.train.column("guided")[0]));
  EXPECT_THAT(run.validation.column("bleu"), ElementsAre(7, 6));
  EXPECT_TRUE(std::isnan(run.validation.column("aer")[1]));
  EXPECT_THAT(run.probe.column("value_share"), ElementsAre(0.75));
  ASSERT_TRUE(run.best);
  EXPECT_EQ(run.best->metric, "bleu");
  EXPECT_EQ(run.best->value, 7);
  EXPECT_EQ(run.best->update, 10);
  ASSERT_TRUE(run.end);
  EXPECT_EQ(run.end->reason, "done");
  EXPECT_EQ(run.bleu_signature, "nrefs:1");
  EXPECT_EQ(run.elapsed, 9);
  EXPECT_EQ(run.config, "{}");
  EXPECT_EQ(run.last_written.size(), std::string("2024-05-01 12:30 UTC").size());
}

TEST(RunRecord, AnEndAfterWhichTheRunWentOnIsNone) {
  const Folder folder("went-on");
  folder.write(
      "metrics.jsonl",
      train(10, 5) + "{\"kind\":\"end\",\"update\":10,\"reason\":\"stopped\"}\n" + train(20, 4));
  EXPECT_FALSE(read_run(folder.path()).end);
}

TEST(RunRecord, LinesOutOfOrderAreSorted) {
  const Folder folder("order");
  folder.write("metrics.jsonl", train(20, 4) + train(10, 5));
  const RunRecord run = read_run(folder.path());
  EXPECT_THAT(run.train.updates, ElementsAre(10, 20));
  EXPECT_THAT(run.train.column("loss"), ElementsAre(5, 4));
}

TEST(RunRecord, DamagedLinesAreCountedAndALineThatIsBeingWrittenIsNot) {
  const Folder folder("damaged");
  folder.write("metrics.jsonl",
               train(10, 5) +
                   "not json\n"
                   "\n"
                   "{\"kind\":\"train\",\"update\":\"x\"}\n"
                   "{\"kind\":\"train\",\"update\":11,\"loss\":\"much\"}\n"
                   "{\"kind\":\"validation\",\"update\":11,\"bleu\":1,\"best\":3}\n"
                   "{\"kind\":\"of a later version\",\"update\":11}\n" +
                   train(20, 4) + "{\"kind\":\"train\",\"upd");
  const RunRecord run = read_run(folder.path());
  EXPECT_THAT(run.train.updates, ElementsAre(10, 20));
  EXPECT_EQ(run.damaged_metrics.count, 4);
  EXPECT_TRUE(run.validation.updates.empty());
  EXPECT_EQ(run.damaged_metrics.first, 2);
}

TEST(RunRecord, WhatIsMissingIsEmptyUnlessNothingIsThere) {
  const Folder folder("missing");
  folder.write("config.json", "{\"half");
  const RunRecord run = read_run(folder.path());
  EXPECT_TRUE(run.train.updates.empty());
  EXPECT_TRUE(run.pairs.empty());
  EXPECT_EQ(run.last_written, "");

  const auto message = [](const std::string& path) {
    try {
      static_cast<void>(read_run(path));
    } catch (const DataError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Folder empty("empty");
  EXPECT_THAT(message(empty.path()), HasSubstr("it holds neither config.json nor metrics.jsonl"));
  EXPECT_THAT(message(folder.path("config.json")), HasSubstr("it is no folder"));
  EXPECT_THAT(message(empty.path("gone")), HasSubstr("there is no such folder"));
  std::filesystem::create_symlink("loop", empty.path("loop"));
  EXPECT_THAT(message(empty.path("loop")), HasSubstr("Too many levels of symbolic links"));
}

}  // namespace
}  // namespace verso
