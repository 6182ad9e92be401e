#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.h"

namespace verso {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config good_config() {
  Config config;
  config.output = "run";
  config.data.train.resize(1);
  config.data.train[0].source = "a";
  config.data.train[0].target = "b";
  config.data.valid.tsv = "c";
  return config;
}

TEST(FindContradictions, NoneInAGoodConfig) {
  EXPECT_THAT(find_contradictions(good_config()), IsEmpty());
  EXPECT_THAT(find_idle_keys(good_config()), IsEmpty());
}

TEST(FindContradictions, OutputAndTrainingDataAreNeeded) {
  Config config = good_config();
  config.output.clear();
  config.data.train.clear();
  EXPECT_THAT(find_contradictions(config),
              ElementsAre(HasSubstr("output is empty"), HasSubstr("data.train is empty")));
}

TEST(FindContradictions, CorporaAreAPairOfFilesOrATsv) {
  Config config = good_config();
  config.data.train.resize(5);
  config.data.train[0].tsv = "both";
  config.data.train[1].source = "a";
  config.data.train[2].target = "b";
  config.data.train[4].tsv = "-";
  config.data.valid = {};
  config.data.valid.target = "b";
  EXPECT_THAT(find_contradictions(config),
              ElementsAre(HasSubstr("data.train[0]: both tsv and source"),
                          HasSubstr("data.train[1]: source is \"a\" but target is missing"),
                          HasSubstr("data.train[2]: target is \"b\" but source is missing"),
                          HasSubstr("data.train[3]: names no file"),
                          HasSubstr("data.train[4]: \"-\" (standard input)"),
                          HasSubstr("data.valid: target is \"b\" but source is missing")));
}

TEST(FindContradictions, TyingAllNeedsAJointVocabulary) {
  Config config = good_config();
  config.model.tie = Tie::kAll;
  EXPECT_THAT(find_contradictions(config), ElementsAre(HasSubstr("vocabulary.joint")));
  config.vocabulary.joint = true;
  EXPECT_THAT(find_contradictions(config), IsEmpty());
}

TEST(FindContradictions, InverseSqrtNeedsWarmup) {
  Config config = good_config();
  config.training.schedule = Schedule::kInverseSqrt;
  EXPECT_THAT(find_contradictions(config), ElementsAre(HasSubstr("training.warmup is 0")));
  config.training.warmup = 100;
  EXPECT_THAT(find_contradictions(config), IsEmpty());
}

TEST(FindContradictions, PlateauRateCannotStartBelowItsFloor) {
  Config config = good_config();
  config.training.min_learning_rate = 0.1;
  EXPECT_THAT(find_contradictions(config), ElementsAre(HasSubstr("(0.1) is above")));
}

TEST(FindContradictions, TrainingMustEnd) {
  Config config = good_config();
  config.training.max_epochs = 0;
  EXPECT_THAT(find_contradictions(config), IsEmpty()) << "early stopping ends it";
  config.validation.patience = 0;
  EXPECT_THAT(find_contradictions(config), ElementsAre(HasSubstr("validation.patience is 0")));
  config.validation.patience = 5;
  config.data.valid = {};
  EXPECT_THAT(find_contradictions(config), ElementsAre(HasSubstr("there is no data.valid")));
  config.training.max_updates = 10;
  EXPECT_THAT(find_contradictions(config), IsEmpty());
}

TEST(FindContradictions, ValidationNeedsACorpus) {
  Config config = good_config();
  config.data.valid = {};
  config.validation.every_updates = 100;
  EXPECT_THAT(find_contradictions(config),
              ElementsAre(HasSubstr("validation.every_updates is 100")));
}

TEST(FindIdleKeys, SaysWhatDoesNothing) {
  Config config = good_config();
  config.data.valid = {};
  config.vocabulary.min_frequency = 2;
  EXPECT_THAT(find_contradictions(config), IsEmpty());
  EXPECT_THAT(find_idle_keys(config),
              ElementsAre(HasSubstr("no data.valid"), HasSubstr("vocabulary.min_frequency")));
  config = good_config();
  config.vocabulary.kind = VocabularyKind::kWord;
  config.vocabulary.sampling = 0.1;
  EXPECT_THAT(find_idle_keys(config), ElementsAre(HasSubstr("vocabulary.sampling")));
}

}  // namespace
}  // namespace verso
