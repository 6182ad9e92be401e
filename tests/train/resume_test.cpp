#include "train/resume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "tests/train/toy_run.h"
#include "train/run_folder.h"

namespace verso {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Recorder;
using test::ToyRun;
using testing::HasSubstr;

Checkpoint last_of(const Config& config) {
  return load_checkpoint(config.output + "/last.safetensors", torch::kCPU);
}

/// metrics.jsonl without what a clock measured and without the run's end.
std::vector<json> metrics_of(const Config& config) {
  std::vector<json> records;
  std::istringstream in(read_file(config.output + "/metrics.jsonl"));
  for (std::string line; std::getline(in, line);) {
    json record = json::parse(line);
    for (const char* clock :
         {"seconds", "elapsed", "tokens_per_second", "left", "left_to_validation"}) {
      record.erase(clock);
    }
    if (record["kind"] != "end" && record.value("extra", false) == false) {
      records.push_back(record);
    }
  }
  return records;
}

/// Training state without what a clock measured and without which best files there are.
std::map<std::string, std::string> values_of(const Checkpoint& last) {
  auto values = last.state.values;
  std::erase_if(values, [](const auto& item) {
    return item.first == "elapsed" || item.first == "window.seconds" ||
           item.first.starts_with("file.");
  });
  return values;
}

std::string data_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError& problem) {
    return problem.what();
  }
  return "";
}

TrainResult resume(const Config& config, bool new_data = false) {
  Recorder recorder;
  const std::atomic<int> stop{0};
  return train(config, {RunMode::kResume, false, new_data}, recorder, stop);
}

Validation validated(int64_t update, double bleu, bool extra = false) {
  Validation validation;
  validation.update = update;
  validation.bleu = bleu;
  validation.perplexity = 100;
  validation.extra = extra;
  return validation;
}

TEST(Resume, ARunWhoseLimitIsRaisedEqualsOneThatHadItFromTheStart) {
  const ToyRun toy("raised");
  Config whole = toy.config("whole");
  whole.training.schedule = Schedule::kPlateau;
  whole.training.decay_patience = 1;
  whole.training.learning_rate = 0.1;  // falls: some validations do not gain
  whole.validation.every_updates = 10;
  Config parts = whole;
  parts.output = toy.path("parts");
  Recorder recorder;
  (void)ToyRun::run(whole, recorder);
  for (const int64_t limit : {7, 30, 37, 38, 60}) {  // between validations and at one
    parts.training.max_updates = limit;
    const TrainResult result = limit == 7 ? ToyRun::run(parts, recorder) : resume(parts);
    EXPECT_EQ(result.update, limit);
    EXPECT_TRUE(fs::exists(parts.output + "/valid/update-" + std::to_string(limit) + ".txt"))
        << "the last state is validated";
  }
  EXPECT_TRUE(test::same_bits(last_of(whole), last_of(parts)));
  EXPECT_EQ(values_of(last_of(whole)), values_of(last_of(parts)));
  EXPECT_EQ(metrics_of(whole), metrics_of(parts));
}

TEST(Resume, ResumingAFinishedRunChangesNothing) {
  const ToyRun toy("finished");
  Config config = toy.config("run");
  config.training.max_updates = 8;  // not a validation
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  const auto before = values_of(last_of(config));
  const std::string best = read_file(config.output + "/best.safetensors");
  EXPECT_EQ(resume(config).update, 8);
  EXPECT_EQ(values_of(last_of(config)), before);
  EXPECT_EQ(read_file(config.output + "/best.safetensors"), best);
}

TEST(BestScores, AnExtraValidationMakesABestFileAndCountsForNothingElse) {
  BestScores scores(Metric::kBleu);
  EXPECT_EQ(scores.add(validated(10, 5)),
            (std::vector<Metric>{Metric::kBleu, Metric::kChrf, Metric::kPerplexity}));
  BestScores other(Metric::kBleu);
  other.set_state(scores.state());
  EXPECT_EQ(other.add(validated(15, 9, true)), std::vector<Metric>{Metric::kBleu});
  EXPECT_EQ(other.update(), 10);
  EXPECT_EQ(other.value(), 5);
  EXPECT_EQ(other.file_update(), 15);
  EXPECT_EQ(other.info().update, 10);
  scores.set_state(other.state());
  EXPECT_TRUE(scores.add(validated(20, 7)).empty()) << "the file of update 15 is better";
  EXPECT_EQ(scores.update(), 20);
  EXPECT_EQ(scores.without_gain(), 0) << "a run without that extra validation has gained";
  EXPECT_EQ(scores.add(validated(30, 10)), std::vector<Metric>{Metric::kBleu});
  EXPECT_EQ(scores.file_update(), 30);
  EXPECT_TRUE(scores.add(validated(40, 1)).empty());
  EXPECT_EQ(scores.without_gain(), 1);
}

TEST(MetricsLog, RewindingTakesBackWhatWillBeWrittenAgain) {
  const ToyRun toy("rewind", 1);
  const std::string path = toy.path("metrics.jsonl");
  const std::string kept =
      "{\"kind\":\"train\",\"update\":4}\n{\"kind\":\"validation\",\"update\":4}\n"
      "{\"kind\":\"train\",\"update\":5}\n";
  write_file_atomically(path, kept +
                                  "{\"kind\":\"validation\",\"update\":5,\"extra\":true}\n"
                                  "{\"kind\":\"end\",\"update\":5}\n"
                                  "{\"kind\":\"train\",\"update\":6}\n"
                                  "{\"update\":\"five\"}\nno json\n[5]\n{\"kind\":\"tra");
  MetricsLog::rewind(path, 5, false);
  EXPECT_EQ(read_file(path), kept);
  MetricsLog::rewind(path, 4, true);
  EXPECT_EQ(read_file(path), "{\"kind\":\"train\",\"update\":4}\n");
  MetricsLog::rewind(toy.path("none"), 4, true);
  EXPECT_FALSE(fs::exists(toy.path("none")));
}

TEST(Resume, ChangedTrainingDataIsTakenOnlyWhenAskedFor) {
  const ToyRun toy("newdata");
  Config config = toy.config("run");
  config.training.max_updates = 20;
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  config.training.max_updates = 40;
  std::ofstream(toy.path("train.src"), std::ios::app) << "a\nb c\n";
  std::ofstream(toy.path("train.tgt"), std::ios::app) << "A\nB C\n";
  const std::string last = read_file(config.output + "/last.safetensors");
  EXPECT_THAT(data_error([&] { (void)resume(config); }), HasSubstr("--new-data"));
  EXPECT_EQ(read_file(config.output + "/last.safetensors"), last);
  EXPECT_EQ(resume(config, true).update, 40);
  EXPECT_EQ(last_of(config).info.update, 40);
  config.training.max_updates = 41;
  EXPECT_EQ(resume(config).update, 41) << "the new data is now the run's";
}

TEST(Resume, CorporaMayMoveAndAreMissedWhenGone) {
  const ToyRun toy("moved");
  Config config = toy.config("run");
  config.training.max_updates = 3;
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  config.training.max_updates = 5;
  fs::rename(toy.path("train.src"), toy.path("elsewhere.src"));
  EXPECT_THAT(data_error([&] { (void)resume(config); }),
              testing::AllOf(HasSubstr("train.src"), HasSubstr("No such file")));
  config.data.train[0].source = toy.path("elsewhere.src");
  EXPECT_EQ(resume(config).update, 5);
}

std::size_t caches_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    count += entry.path().filename().string().starts_with("pairs-") ? 1 : 0;
  }
  return count;
}

TEST(RunFolder, OnlyTheCacheInUseIsKeptAndSharedCachesAreLeftAlone) {
  const ToyRun toy("caches");
  Config config = toy.config("run");
  config.training.max_updates = 1;
  Config shared = config;
  shared.output = toy.path("other");
  shared.data.cache = toy.path("shared");
  Recorder recorder;
  for (const int64_t longest : {50, 40, 30}) {
    config.data.max_len = shared.data.max_len = longest;
    (void)ToyRun::run(config, recorder, RunMode::kOverwrite);
    (void)ToyRun::run(shared, recorder, RunMode::kOverwrite);
  }
  EXPECT_EQ(caches_in(config.output + "/cache"), 1U);
  EXPECT_EQ(caches_in(shared.data.cache), 3U);
}

}  // namespace
}  // namespace verso
