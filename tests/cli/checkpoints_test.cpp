// Checkpoints: what full disks, kills, damage and mistakes of users do to a run.
#include <algorithm>
#include <map>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Checkpoints : public testing::Test {
 protected:
  TempFolder folder_;
};

/// Each file below `folder` with its bytes.
std::map<std::string, std::string> snapshot(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[entry.path()] = read_all(entry.path());
  }
  return files;
}

void expect_no_temporary_files(const std::string& folder) {
  for (const auto& [path, bytes] : snapshot(folder)) {
    EXPECT_EQ(path.find(".tmp"), std::string::npos) << path;
  }
}

TEST_F(Checkpoints, R074_AFailedSaveLeavesTheOldFileAndNothingElse) {
  Json config = toy_config(folder_);
  config["training"]["max_updates"] = 5;
  train_well(config);
  const std::string last = folder_ / "run/last.safetensors";
  const std::string good = read_all(last);
  config["training"]["max_updates"] = 10;
  Limits limits;
  limits.file_bytes = good.size() / 2;
  expect_clean_error(train(config, {"--resume"}, limits), 5, {last, "File too large"});
  EXPECT_TRUE(read_all(last) == good);
  expect_no_temporary_files(folder_.path());
  EXPECT_EQ(translate(folder_ / "run", {"a", "b"}).size(), 2U);
  EXPECT_THAT(train_well(config, {"--resume"}).err, HasSubstr("resumed at update 5"));

  config["output"] = folder_ / "other";
  expect_clean_error(train(config, {}, limits), 5, {folder_ / "other/last.safetensors"});
  EXPECT_FALSE(fs::exists(folder_ / "other"));
}

TEST_F(Checkpoints, R076_AKilledRunGoesOnAndEqualsOneThatWasNot) {
  const auto config = [&](const std::string& name) {
    Json made = toy_config(folder_, name);
    made["model"]["dropout"]["embed"] = 0.3;
    made["training"].merge_patch({{"max_updates", 120}, {"log_every", 1}});
    made["checkpoint"]["every_updates"] = 1;
    return made;
  };
  train_well(config("whole"));
  const std::string file = write_config_file(config("killed"));
  std::mt19937 random(5);
  int update = 0;
  for (int kills = 0; kills < 5; ++kills) {
    Lines arguments = {"train", file};
    if (kills > 0) arguments.push_back("--resume");
    Process process(arguments);
    const std::string sign = kills == 0 ? "update 3 " : "resumed at update ";
    ASSERT_TRUE(process.run_until(
        [&] { return process.error_output().find(sign) != std::string::npos; }, 120))
        << process.error_output();
    const auto start = Clock::now();
    const double wait = static_cast<double>(random() % 150) / 1000;
    process.run_until([&] { return seconds_since(start) > wait; }, 1);
    process.send_signal(SIGKILL);
    const Result result = process.finish();
    EXPECT_EQ(result.code, -SIGKILL) << "ended before it was killed: " << result.err;
    if (kills > 0) {
      const int resumed = std::stoi(result.err.substr(result.err.find(sign) + sign.size()));
      EXPECT_GE(resumed, update);
      update = resumed;
    }
  }
  run_well({"train", file, "--resume"});
  const auto killed = tensors_of(folder_ / "killed/last.safetensors");
  for (const auto& [name, bytes] : tensors_of(folder_ / "whole/last.safetensors")) {
    EXPECT_TRUE(killed.at(name) == bytes) << name;
  }
  expect_no_temporary_files(folder_ / "killed");
  EXPECT_EQ(metrics(folder_ / "killed", "train").size(), 120U);
}

TEST_F(Checkpoints, R076_DamagedFilesAreCleanErrors) {
  const std::string good = read_all(SharedModels::get().toy() + "/last.safetensors");
  const std::string path = folder_ / "bad.safetensors";
  Lines damaged;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{100}, good.size() / 2, good.size() - 1}) {
    damaged.push_back(good.substr(0, size));
  }
  damaged.push_back(good);
  damaged.back()[good.size() / 2] ^= 1;
  damaged.push_back("no checkpoint at all, but a text\n");
  for (const std::string& bytes : damaged) {
    SCOPED_TRACE(bytes.size());
    write_all(path, bytes);
    const Result result = run({"translate", path}, "a\n");
    expect_clean_error(result, 5, {path});
    EXPECT_THAT(result.err, HasSubstr("damaged"));
#ifndef __SANITIZE_ADDRESS__  // which takes memory of its own
    EXPECT_LT(result.peak_kib, 600 * 1024);
#endif
  }
  expect_clean_error(run({"translate", folder_ / "none"}, "a\n"), 5, {folder_ / "none"});
  expect_clean_error(run({"translate", folder_.path() + "/."}, "a\n"), 5, {folder_.path()});
}

TEST_F(Checkpoints, R080_AnExistingRunIsNeitherOverwrittenNorContinuedUnasked) {
  Json config = toy_config(folder_);
  config["training"]["max_updates"] = 5;
  train_well(config);
  write_all(folder_ / "run/notes.txt", "mine");
  fs::create_directories(folder_ / "run/valid");
  write_all(folder_ / "run/valid/my.txt", "mine too");
  const auto before = snapshot(folder_ / "run");
  expect_clean_error(train(config), 4, {folder_ / "run", "--resume", "--overwrite"});
  expect_clean_error(train(config, {"--resume", "--overwrite"}), 2, {"--resume", "--overwrite"});
  EXPECT_TRUE(snapshot(folder_ / "run") == before);

  config["training"]["max_updates"] = 8;
  train_well(config, {"--resume"});
  EXPECT_EQ(read_all(folder_ / "run/train.log").rfind(before.at(folder_ / "run/train.log"), 0), 0U)
      << "the log is appended to";
  config["seed"] = 2;
  train_well(config, {"--overwrite"});
  EXPECT_EQ(read_all(folder_ / "run/notes.txt"), "mine");
  EXPECT_EQ(read_all(folder_ / "run/valid/my.txt"), "mine too");
  EXPECT_NE(read_all(folder_ / "run/train.log").find("seed 2\n"), std::string::npos);

  config["output"] = folder_ / "never";
  expect_clean_error(train(config, {"--resume"}), 5, {folder_ / "never"});
  EXPECT_FALSE(fs::exists(folder_ / "never"));
}

TEST_F(Checkpoints, R080_AFolderIsForOneProcess) {
  Json config = toy_config(folder_);
  config["training"].merge_patch({{"max_updates", 100000}, {"log_every", 1}});
  Process process({"train", write_config_file(config)});
  ASSERT_TRUE(process.run_until(
      [&] { return process.error_output().find("update 2 ") != std::string::npos; }, 120));
  expect_clean_error(train(config, {"--resume"}), 4, {folder_ / "run"});
  expect_clean_error(train(config, {"--overwrite"}), 4, {folder_ / "run"});
  process.send_signal(SIGTERM);
  EXPECT_EQ(process.finish().code, 128 + SIGTERM);
  EXPECT_EQ(translate(folder_ / "run", {"a"}).size(), 1U);
}

TEST_F(Checkpoints, R080_ResumeRefusesWhatWouldBeAnotherRun) {
  Json config = toy_config(folder_);
  config["training"]["max_updates"] = 5;
  train_well(config);
  const std::string last = read_all(folder_ / "run/last.safetensors");
  config["training"]["max_updates"] = 10;
  Json changed = config;
  changed["model"]["hidden"] = 40;
  changed["training"]["learning_rate"] = 0.1;
  expect_clean_error(train(changed, {"--resume"}), 3,
                     {"model.hidden", "32", "40", "training.learning_rate", "0.005", "0.1"});
  write_all(folder_ / "run.src", joined(upper(toy_source())));
  expect_clean_error(train(config, {"--resume"}), 4, {"training data"});
  EXPECT_TRUE(read_all(folder_ / "run/last.safetensors") == last);
  write_all(folder_ / "run.src", joined(toy_source()));
  train_well(config, {"--resume"});
}

TEST_F(Checkpoints, R082_AModelCarriesAllItNeeds) {
  const std::string& model = SharedModels::get().toy();
  const Lines input = {"a b c", "h g"};
  const Lines expected = translate(model, input);
  fs::copy(model + "/last.safetensors", folder_ / "moved.safetensors");
  EXPECT_EQ(translate(folder_ / "moved.safetensors", input), expected);

  Json config = toy_config(folder_);
  train_well(config);
  const Lines before = translate(folder_ / "run", input);
  for (const char* name : {"run.src", "run.tgt", "run.json"}) fs::remove(folder_ / name);
  fs::rename(folder_ / "run", folder_ / "elsewhere");
  EXPECT_EQ(translate(folder_ / "elsewhere", input), before);
}

TEST_F(Checkpoints, R082_InspectShowsWhatAFileHolds) {
  const std::string& model = SharedModels::get().toy();
  const Json shown = Json::parse(run_well({"inspect", model, "--json"}).out);
  EXPECT_EQ(shown["update"], 600);
  EXPECT_EQ(shown["vocabulary"]["source"]["kind"], "word");
  EXPECT_EQ(shown["architecture"]["hidden"], 32);
  const Lines entries = run_well({"inspect", model, "--vocabulary", "target"}).lines();
  EXPECT_EQ(entries, vocabulary_of(model, "target"));
  EXPECT_THAT(entries, testing::IsSupersetOf(upper(kLetters)));
  write_all(folder_ / "copy.json", run_well({"inspect", model, "--config"}).out);
  EXPECT_EQ(Json::parse(read_all(folder_ / "copy.json"))["model"]["embed"], 16);
  EXPECT_THAT(run_well({"inspect", model}).out, HasSubstr("update"));
}

}  // namespace
}  // namespace verso::cli
