#include "train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tests/train/toy_run.h"

namespace verso {
namespace {

using test::Recorder;
using test::ToyRun;

Checkpoint last_of(const Config& config) {
  return load_checkpoint(config.output + "/last.safetensors", torch::kCPU);
}

TEST(Trainer, LearnsToCopy) {
  const ToyRun toy("learns");
  Config config = toy.config("run");
  config.model.dropout = {0, 0, 0, 0, 0, 0};
  config.training.max_updates = 1000;
  config.training.learning_rate = 0.01;
  config.validation.every_updates = 500;
  Recorder recorder;
  const TrainResult result = ToyRun::run(config, recorder);
  EXPECT_EQ(result.update, 1000);
  ASSERT_EQ(recorder.validations.size(), 2U);
  EXPECT_LT(recorder.validations.back().perplexity, 1.5);
  EXPECT_GT(recorder.validations.back().chrf, 70);
  EXPECT_EQ(recorder.lines.size(), 1000U);
  EXPECT_LT(recorder.lines.back().loss, recorder.lines.front().loss);
}

// R034
TEST(Trainer, R034_SameSeedSameBitsOtherSeedOthers) {
  const ToyRun toy("seeds");
  Config a = toy.config("a"), b = toy.config("b"), c = toy.config("c");
  c.seed = 8;
  Recorder recorder;
  for (const Config& config : {a, b, c}) (void)ToyRun::run(config, recorder);
  EXPECT_TRUE(test::same_bits(last_of(a), last_of(b)));
  EXPECT_FALSE(test::same_bits(last_of(a), last_of(c)));
}

// R020, R022, R024: stop anywhere (in an epoch, at a validation, twice) and go on: the same bits,
// learning rates, losses and validations as a run that never stopped.
TEST(Trainer, R022_ResumingEqualsNeverHavingStopped) {
  const ToyRun toy("resume");
  Config whole = toy.config("whole");
  whole.training.schedule = Schedule::kPlateau;
  whole.training.learning_rate = 0.1;  // falls: some validations do not gain
  whole.validation.every_updates = 10;
  Recorder uninterrupted;
  (void)ToyRun::run(whole, uninterrupted);
  for (const std::vector<int64_t>& stops :
       std::vector<std::vector<int64_t>>{{1}, {23}, {30}, {9, 41}}) {
    Config parts = whole;
    parts.output = toy.path("parts");
    Recorder recorder;
    RunMode mode = RunMode::kOverwrite;
    for (const int64_t stop : stops) {
      const TrainResult result = ToyRun::run(parts, recorder, mode, stop);
      EXPECT_EQ(result.signal, 15);
      EXPECT_EQ(result.update, stop);
      mode = RunMode::kResume;
    }
    (void)ToyRun::run(parts, recorder, mode);
    EXPECT_TRUE(test::same_bits(last_of(whole), last_of(parts))) << stops.front();
    ASSERT_EQ(recorder.lines.size(), uninterrupted.lines.size());
    for (std::size_t i = 0; i < recorder.lines.size(); ++i) {
      EXPECT_EQ(recorder.lines[i].loss, uninterrupted.lines[i].loss) << i;
      EXPECT_EQ(recorder.lines[i].learning_rate, uninterrupted.lines[i].learning_rate) << i;
    }
    ASSERT_EQ(recorder.validations.size(), uninterrupted.validations.size());
    for (std::size_t i = 0; i < recorder.validations.size(); ++i) {
      EXPECT_EQ(recorder.validations[i].perplexity, uninterrupted.validations[i].perplexity);
      EXPECT_EQ(recorder.validations[i].without_gain, uninterrupted.validations[i].without_gain);
    }
  }
}

// R030
TEST(Trainer, R030_PatienceEndsARunThatDoesNotGain) {
  const ToyRun toy("patience");
  Config config = toy.config("run");
  config.training.learning_rate = 0;
  config.validation.every_updates = 5;
  config.validation.patience = 2;
  config.validation.metric = Metric::kPerplexity;
  Recorder recorder;
  const TrainResult result = ToyRun::run(config, recorder);
  EXPECT_EQ(result.update, 15);
  EXPECT_EQ(result.best_update, 5);
  EXPECT_NE(result.reason.find("early stopping: 2 validations without gain in perplexity"),
            std::string::npos)
      << result.reason;
}

// R019
TEST(Trainer, R019_DivergingRunsStopWithAGoodCheckpoint) {
  for (const double rate : {1e6, 1e38}) {
    const ToyRun toy("diverge");
    Config config = toy.config("run");
    config.training.learning_rate = rate;
    config.training.clip_norm = 0;
    config.training.max_updates = 600;
    Recorder recorder;
    EXPECT_THROW((void)ToyRun::run(config, recorder), NumericError) << rate;
    const Checkpoint last = last_of(config);
    for (const Tensor& parameter : last.model.network->parameters()) {
      EXPECT_TRUE(parameter.isfinite().all().item<bool>());
    }
  }
}

// R080
TEST(Trainer, R080_AFolderWithARunIsRefusedAndUntouched) {
  const ToyRun toy("refuse");
  Config config = toy.config("run");
  config.training.max_updates = 2;
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  std::ofstream(toy.path("run/notes.txt")) << "mine";
  try {
    (void)ToyRun::run(config, recorder);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find("--resume"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("--overwrite"), std::string::npos);
  }
  const auto kept = std::filesystem::last_write_time(toy.path("run/last.safetensors"));
  Config broken = config;
  broken.data.train[0].target = toy.path("valid.tgt");  // lines do not match
  EXPECT_THROW((void)ToyRun::run(broken, recorder, RunMode::kOverwrite), DataError);
  EXPECT_EQ(std::filesystem::last_write_time(toy.path("run/last.safetensors")), kept);
  (void)ToyRun::run(config, recorder, RunMode::kOverwrite);
  EXPECT_TRUE(std::filesystem::exists(toy.path("run/notes.txt")));
}

TEST(Trainer, OtherDataOrModelIsRefusedOnResume) {
  const ToyRun toy("changed");
  Config config = toy.config("run");
  config.training.max_updates = 2;
  Recorder recorder;
  (void)ToyRun::run(config, recorder);
  config.training.max_updates = 4;
  Config other = config;
  other.model.hidden = 13;
  EXPECT_THROW((void)ToyRun::run(other, recorder, RunMode::kResume), ConfigError);
  std::ofstream(toy.path("train.src"), std::ios::app) << "a\n";
  std::ofstream(toy.path("train.tgt"), std::ios::app) << "A\n";
  EXPECT_THROW((void)ToyRun::run(config, recorder, RunMode::kResume), DataError);
}

TEST(Trainer, EveryOptimizerAndScheduleLowersTheLoss) {
  const ToyRun toy("optimizers");
  for (const Optimizer optimizer :
       {Optimizer::kAdam, Optimizer::kAdamW, Optimizer::kAdadelta, Optimizer::kSgd}) {
    Config config = toy.config("run");
    config.model.dropout = {0, 0, 0, 0, 0, 0};
    config.training.optimizer = optimizer;
    config.training.learning_rate = optimizer == Optimizer::kSgd        ? 1.0
                                    : optimizer == Optimizer::kAdadelta ? 5.0
                                                                        : 0.01;
    config.training.schedule = Schedule::kInverseSqrt;
    config.training.warmup = 20;
    config.validation.every_updates = 1000;
    Recorder recorder;
    (void)ToyRun::run(config, recorder, RunMode::kOverwrite);
    EXPECT_LT(recorder.lines.back().loss, 0.95 * recorder.lines.front().loss)
        << enum_name(optimizer);
    EXPECT_NEAR(recorder.lines[9].learning_rate, config.training.learning_rate / 2, 1e-9);
  }
}

TEST(Trainer, SubwordRegularisationResumesToTheSameBits) {
  const ToyRun toy("sampling");
  Config whole = toy.config("whole");
  whole.vocabulary.kind = VocabularyKind::kBpe;
  whole.vocabulary.source_size = whole.vocabulary.target_size = 20;
  whole.vocabulary.sampling = 0.3;
  whole.training.max_updates = 12;
  Config parts = whole;
  parts.output = toy.path("parts");
  Recorder recorder;
  (void)ToyRun::run(whole, recorder);
  (void)ToyRun::run(parts, recorder, RunMode::kFresh, 5);
  (void)ToyRun::run(parts, recorder, RunMode::kResume);
  EXPECT_TRUE(test::same_bits(last_of(whole), last_of(parts)));
}

}  // namespace
}  // namespace verso
