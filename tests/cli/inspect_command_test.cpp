#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/command_table.h"
#include "config/load.h"
#include "config/write.h"
#include "tests/checkpoint/support.h"

namespace verso {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class InspectCommand : public testing::Test {
 protected:
  InspectCommand() {
    const TrainingState state = test::some_state();
    save_checkpoint(folder_.file(kLastFile), model_, {1200, 3.25, {{"bleu", 31.5}}}, &state);
  }
  /// verso inspect ...; stdout.
  static std::string run(std::vector<std::string> arguments) {
    std::vector<const char*> argv{"verso", "--quiet", "inspect"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    try {
      EXPECT_EQ(run_program(static_cast<int>(argv.size()), argv.data()), 0);
    } catch (...) {
      EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
      throw;
    }
    return testing::internal::GetCapturedStdout();
  }
  test::Folder folder_;
  TranslationModel model_ = test::word_model();
};

TEST_F(InspectCommand, ShowsWhatTheFileHolds) {
  EXPECT_THAT(run({folder_.path()}),
              AllOf(HasSubstr(folder_.file(kLastFile)), HasSubstr("1200"), HasSubstr("3.25"),
                    HasSubstr("bleu"), HasSubstr("31.5"), HasSubstr("corpus/train.de"),
                    HasSubstr("conditional"), HasSubstr("float32"), HasSubstr("word")));
}

TEST_F(InspectCommand, JsonHasTheSameForPrograms) {
  const auto json = nlohmann::json::parse(run({folder_.path(), "--json"}));
  EXPECT_EQ(json["update"], 1200);
  EXPECT_EQ(json["checksum"], "good");
  EXPECT_EQ(json["resumable"], true);
  EXPECT_EQ(json["scores"]["bleu"], 31.5);
  EXPECT_EQ(json["data"][0]["target"], "corpus/train.en");
  EXPECT_EQ(json["vocabulary"]["source"]["kind"], "word");
  EXPECT_EQ(json["vocabulary"]["source"]["size"], model_.vocabularies.source->size());
  EXPECT_EQ(json["vocabulary"]["joint"], false);
  EXPECT_EQ(json["architecture"]["hidden"], 5);
  EXPECT_EQ(json["parameters"]["total"], model_.network->parameter_count());
  int64_t sum = 0;
  for (const auto& count : json["parameters"]["modules"]) sum += count.get<int64_t>();
  EXPECT_EQ(sum, model_.network->parameter_count());
  EXPECT_TRUE(json["parameters"]["modules"].contains("decoder.attention"));
}

TEST_F(InspectCommand, ConfigCanBeTrainedFromAgain) {
  const std::string text = run({folder_.path(), "--config"});
  EXPECT_EQ(write_config(parse_config(text, "stdout")), write_config(model_.config));
}

TEST_F(InspectCommand, VocabularyHasOneEntryALine) {
  const std::string text = run({folder_.path(), "--vocabulary", "target"});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), model_.vocabularies.target->size());
  EXPECT_THAT(text, HasSubstr("\nDE\n"));
  EXPECT_THAT(run({folder_.path(), "--vocabulary", "source"}), HasSubstr("\ncd\n"));
}

TEST_F(InspectCommand, WrongUseAndDamagedFilesAreErrors) {
  EXPECT_THROW(run({folder_.path(), "--vocabulary", "both"}), UsageError);
  EXPECT_THROW(run({folder_.path(), "--json", "--config"}), UsageError);
  EXPECT_THROW(run({}), UsageError);
  std::filesystem::resize_file(folder_.file(kLastFile), 1000);
  EXPECT_THROW(run({folder_.path()}), CheckpointError);
}

}  // namespace
}  // namespace verso
