// Training runs: reproducible to the bit, resumable, and ending with a reason.
#include <algorithm>
#include <cmath>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::HasSubstr;

constexpr int kStop = 50;  // inside an epoch of 14 batches, at a validation
constexpr int kEnd = 125;

/// Dropout, a rate that falls, validations, and a line for each update.
Json eventful_config(const TempFolder& folder, const std::string& name) {
  Json config = toy_config(folder, name);
  const Lines valid = toy_sentences(10, kLetters, 5, 99);
  add_validation(config, folder, valid, upper(valid), 25);
  config["model"]["dropout"] = {{"embed", 0.3}, {"encoder", 0.3}, {"readout", 0.3}};
  config["training"].merge_patch({{"max_updates", kEnd},
                                  {"schedule", "plateau"},
                                  {"decay_patience", 1},
                                  {"log_every", 1},
                                  {"learning_rate", 0.02}});
  config["checkpoint"] = {{"keep", 2}};
  return config;
}

/// One run without a stop, and one that stopped at kStop and was resumed, made once.
struct Pair {
  TempFolder folder;
  Json whole = eventful_config(folder, "whole"), parts = eventful_config(folder, "parts");
  Result stopped, resumed;

  Pair() {
    train_well(whole);
    Json first = parts;
    first["training"]["max_updates"] = kStop;
    stopped = train_well(first);
    std::filesystem::copy(folder / "parts", folder / "stopped",
                          std::filesystem::copy_options::recursive);
    resumed = train_well(parts, {"--resume"});
  }

  static Pair& get() {
    static Pair pair;
    return pair;
  }
};

/// What an update did, without clock times.
std::vector<Json> updates_of(const std::string& run_folder, int from) {
  std::vector<Json> found;
  for (const Json& record : metrics(run_folder, "train")) {
    if (record["update"].get<int>() < from) continue;
    found.push_back({{"update", record["update"]},
                     {"epoch", record["epoch"]},
                     {"loss", record["loss"]},
                     {"perplexity", record["perplexity"]},
                     {"learning_rate", record["learning_rate"]},
                     {"gradient_norm", record["gradient_norm"]}});
  }
  return found;
}

void expect_same_tensors(const std::string& file, const std::string& expected) {
  const auto found = tensors_of(file), wanted = tensors_of(expected);
  ASSERT_EQ(found.size(), wanted.size());
  for (const auto& [name, bytes] : wanted) EXPECT_TRUE(found.at(name) == bytes) << name;
}

class Training : public testing::Test {
 protected:
  TempFolder folder_;
};

class Resuming : public testing::Test {
 protected:
  Pair& pair_ = Pair::get();
};

TEST_F(Training, R019_DivergingRunsStopAndHarmNoCheckpoint) {
  Json config = toy_config(folder_);
  add_validation(config, folder_, {"a b", "c"}, {"A B", "C"}, 10);
  train_well(config);
  const std::string best = read_all(folder_ / "run/best.safetensors");
  const std::string last = read_all(folder_ / "run/last.safetensors");
  config["validation"]["every_updates"] = 100000;
  config["training"]["max_updates"] = 1000;
  for (const double rate : {1e6, 1e38}) {
    config["training"]["learning_rate"] = rate;
    if (rate > 1e6) config["training"]["clip_norm"] = 0;
    const Result result = train(config, {"--resume", "--reset-optimizer"});
    expect_clean_error(
        result, 6,
        {"update ", "in a row", folder_ / "run/last.safetensors", "training.learning_rate"});
    EXPECT_THAT(result.err, HasSubstr(" left out: "));
    EXPECT_TRUE(read_all(folder_ / "run/best.safetensors") == best) << rate;
    EXPECT_TRUE(read_all(folder_ / "run/last.safetensors") == last) << rate;
  }
  EXPECT_EQ(translate(folder_ / "run/last.safetensors", {"a", "b"}).size(), 2U);
}

TEST_F(Training, R019_DivergingFromTheStartLeavesAUsableFile) {
  Json config = toy_config(folder_);
  config["training"].merge_patch({{"learning_rate", 1e38}, {"clip_norm", 0}});
  config["training"]["max_updates"] = 1000;
  expect_clean_error(train(config), 6, {"update "});
  EXPECT_EQ(translate(folder_ / "run", {"a", "b"}).size(), 2U);
}

TEST_F(Resuming, R020_TheLearningRateGoesOnWhereItWas) {
  const auto whole = updates_of(pair_.folder / "whole", kStop + 1);
  const auto parts = updates_of(pair_.folder / "parts", kStop + 1);
  ASSERT_EQ(whole.size(), std::size_t{kEnd - kStop});
  ASSERT_EQ(parts.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(parts[i]["learning_rate"], whole[i]["learning_rate"]) << i;
  }
  const auto strip = [](std::vector<Json> records) {
    for (Json& record : records) {
      record.erase("seconds");
      record.erase("elapsed");
    }
    return records;
  };
  EXPECT_EQ(strip(metrics(pair_.folder / "parts", "validation")),
            strip(metrics(pair_.folder / "whole", "validation")));
}

TEST_F(Resuming, R022_ResumingEqualsNeverStopping) {
  EXPECT_EQ(updates_of(pair_.folder / "parts", 1), updates_of(pair_.folder / "whole", 1));
  for (const char* file : {"/last.safetensors", "/best.safetensors"}) {
    expect_same_tensors(pair_.folder / ("parts" + std::string(file)),
                        pair_.folder / ("whole" + std::string(file)));
  }
  EXPECT_THAT(pair_.resumed.err, HasSubstr("resumed at update 50, epoch 3.571"));
}

TEST_F(Resuming, R024_AResetIsAskedForAndSaid) {
  Json config = pair_.parts;
  config["output"] = pair_.folder / "stopped";
  config["training"]["max_updates"] = kStop + 10;
  const Result result = train_well(config, {"--resume", "--reset-optimizer"});
  EXPECT_THAT(result.err, HasSubstr("optimiser, learning rate and best scores are reset"));
  const auto reset = updates_of(pair_.folder / "stopped", kStop + 1);
  const auto whole = updates_of(pair_.folder / "whole", kStop + 1);
  ASSERT_GE(reset.size(), 10U);
  EXPECT_EQ(reset[0]["loss"], whole[0]["loss"]);  // the parameters are those it had
  EXPECT_NE(reset[9]["loss"], whole[9]["loss"]);
  const Result refused = run({"train", write_config_file(config), "--reset-optimizer"});
  expect_clean_error(refused, 2, {"--reset-optimizer", "--resume"});
}

// AddressSanitizer reserves more addresses than any limit allows.
#ifndef __SANITIZE_ADDRESS__
TEST_F(Training, R026_OutOfMemoryNamesThePair) {
  std::string monster = "a";
  for (int i = 1; i < 9000; ++i) monster += " a";
  Json config = toy_config(folder_, joined(toy_source()) + monster + "\n",
                           joined(toy_target()) + upper(monster) + "\n");
  config["data"]["max_len"] = 10000;
  config["kernels"] = "generic";  // the fused ones need a fraction of this
  Limits limits;
  limits.address_bytes = rlim_t{3} << 30;
  expect_clean_error(train(config, {}, limits), 4,
                     {"not enough memory", "line 301", "9000", "data.max_len"});
}
#endif

TEST_F(Training, R028_LossDoesNotDependOnTheBatch) {
  const Lines source = toy_sentences(50, kLetters, 30, 61);
  std::string pairs;
  for (const std::string& line : source) pairs += line + "\t" + upper(line) + "\n";
  const std::string& model = SharedModels::get().toy();
  const Result together = run_well({"score", model}, pairs);
  Process process({"score", model});
  std::size_t sent = 0;
  for (const std::string& pair : split_lines(pairs)) {
    process.send(pair + "\n");
    ++sent;
    ASSERT_TRUE(process.run_until(
        [&] {
          const auto count = std::count(process.output().begin(), process.output().end(), '\n');
          return static_cast<std::size_t>(count) == sent;
        },
        60));
  }
  const Lines alone = process.finish().lines(), expected = together.lines();
  ASSERT_EQ(alone.size(), expected.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const double wanted = std::stod(expected[i]);
    EXPECT_NEAR(std::stod(alone[i]), wanted, 1e-5 * std::abs(wanted) + 2e-6) << source[i];
  }
  const auto perplexity = [](const std::string& err) {
    return err.substr(err.find("perplexity per token"));
  };
  EXPECT_EQ(perplexity(run_well({"score", model}, pairs + pairs).err), perplexity(together.err));
}

TEST_F(Training, R030_TheLastLineSaysWhyItEnded) {
  Json config = toy_config(folder_);
  add_validation(config, folder_, {"a b", "c"}, {"A B", "C"}, 5);
  config["training"]["learning_rate"] = 0;
  config["training"]["max_updates"] = 40;
  config["validation"]["patience"] = 2;
  config["validation"]["metric"] = "perplexity";
  const Lines log = split_lines(train_well(config).err);
  const std::string best = folder_ / "run/best.safetensors";
  EXPECT_EQ(log.back(),
            "ended at update 15: early stopping: 2 validations without gain in perplexity; best "
            "model (update 5): " +
                best);
  EXPECT_EQ(metrics(folder_ / "run", "end").at(0)["reason"],
            "early stopping: 2 validations without gain in perplexity");

  config["validation"]["patience"] = 0;
  EXPECT_THAT(split_lines(train_well(config, {"--overwrite"}).err).back(),
              HasSubstr("ended at update 40: training.max_updates (40) reached"));
  config["training"]["max_updates"] = 0;
  config["training"]["max_epochs"] = 1;
  EXPECT_THAT(split_lines(train_well(config, {"--overwrite"}).err).back(),
              HasSubstr("training.max_epochs (1) reached"));
}

TEST_F(Training, R032_DecodedScoresEqualTranslateAndEvaluate) {
  Json config = toy_config(folder_);
  const Lines valid = toy_sentences(60, kLetters, 8, 71);
  add_validation(config, folder_, valid, upper(valid), 75);
  config["training"]["max_updates"] = 150;
  config["validation"].merge_patch({{"beam", 3}, {"length_penalty", 0.6}});
  const Result trained = train_well(config);
  EXPECT_THAT(trained.err, HasSubstr("teacher-forced loss"));
  EXPECT_THAT(trained.err, HasSubstr("decoded BLEU"));
  const auto validations = metrics(folder_ / "run", "validation");
  ASSERT_EQ(validations.size(), 2U);
  const Json& best = validations[0]["best_update"] == validations[1]["best_update"]
                         ? validations[0]
                         : validations[1];
  const Lines lines = translate(folder_ / "run/best.safetensors", valid,
                                {"--beam", "3", "--length-penalty", "0.6"});
  EXPECT_EQ(joined(lines),
            read_all(folder_ / ("run/valid/update-" + best["update"].dump() + ".txt")));
  const Result scores =
      run_well({"evaluate", "--json", "--reference", folder_ / "valid.tgt"}, joined(lines));
  const Json record = Json::parse(scores.out);
  EXPECT_NEAR(record["bleu"].get<double>(), best["bleu"].get<double>(), 1e-9);
  EXPECT_NEAR(record["chrf"].get<double>(), best["chrf"].get<double>(), 1e-9);
  EXPECT_EQ(record["bleu_signature"], best["bleu_signature"]);

  std::string pairs;
  for (const std::string& line : valid) pairs += line + "\t" + upper(line) + "\n";
  const std::string err = run_well({"score", folder_ / "run/best.safetensors"}, pairs).err;
  const std::string label = "perplexity per token ";
  EXPECT_NEAR(std::stod(err.substr(err.find(label) + label.size())),
              best["perplexity"].get<double>(), 1e-3);
}

TEST_F(Training, R034_OneSeedDecidesEverything) {
  const auto trained = [&](const std::string& name, const Json& seed) {
    Json config = toy_config(folder_, name);
    config["model"]["dropout"] = {{"embed", 0.3}, {"readout", 0.3}};
    config["training"]["log_every"] = 1;
    config["seed"] = seed;
    if (seed.is_null()) config.erase("seed");
    return train_well(config).err;
  };
  trained("seven", 7);
  trained("again", 7);
  EXPECT_EQ(updates_of(folder_ / "again", 1), updates_of(folder_ / "seven", 1));
  expect_same_tensors(folder_ / "again/last.safetensors", folder_ / "seven/last.safetensors");
  trained("eight", 8);
  EXPECT_NE(updates_of(folder_ / "eight", 1), updates_of(folder_ / "seven", 1));

  const std::string log = trained("drawn", nullptr);
  const std::size_t at = log.find("seed ");
  ASSERT_NE(at, std::string::npos);
  trained("repeated", std::stoll(log.substr(at + 5)));
  expect_same_tensors(folder_ / "repeated/last.safetensors", folder_ / "drawn/last.safetensors");
}

TEST_F(Resuming, R036_ASignalEndsARunThatThenGoesOn) {
  Json config = eventful_config(pair_.folder, "signalled");
  Process process({"train", write_config_file(config)});
  ASSERT_TRUE(process.run_until(
      [&] { return process.error_output().find("update 20 ") != std::string::npos; }, 120));
  const auto sent = Clock::now();
  process.send_signal(SIGTERM);
  const Result result = process.finish();
  EXPECT_LT(seconds_since(sent), 10);
  EXPECT_EQ(result.code, 128 + SIGTERM);
  EXPECT_EQ(result.out, "");
  const std::string stored = pair_.folder / "signalled/config.json";
  EXPECT_THAT(split_lines(result.err).back(),
              HasSubstr("terminated (SIGTERM); go on with: verso train " + stored + " --resume"));

  run_well({"train", stored, "--resume"});
  EXPECT_EQ(updates_of(pair_.folder / "signalled", 1), updates_of(pair_.folder / "whole", 1));
  expect_same_tensors(pair_.folder / "signalled/last.safetensors",
                      pair_.folder / "whole/last.safetensors");
}

TEST_F(Training, R036_ASecondSignalEndsAtOnceWithAWholeFile) {
  Json config = toy_config(folder_);
  config["training"].merge_patch({{"max_updates", 100000}, {"log_every", 1}});
  config["checkpoint"] = {{"every_updates", 1}};
  Process process({"train", write_config_file(config)});
  ASSERT_TRUE(process.run_until(
      [&] { return process.error_output().find("update 5 ") != std::string::npos; }, 120));
  process.send_signal(SIGINT);
  process.send_signal(SIGINT);
  EXPECT_EQ(process.finish().code, 128 + SIGINT);
  EXPECT_EQ(translate(folder_ / "run", {"a"}).size(), 1U);
}

TEST_F(Training, R036_DevicesThatAreNotThereAreRefusedAtOnce) {
  Json config = toy_config(folder_);
  config["device"] = "cuda:7";
  expect_clean_error(train(config), 3, {"device", "\"cuda:7\"", "cuda"});
  config["device"] = "cuda";
  const Result result = train(config);
  if (result.code == 0) GTEST_SKIP() << "this machine has a CUDA device";
  expect_clean_error(result, 2, {"device \"cuda\"", "CUDA", "\"cpu\""});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
  expect_clean_error(run({"translate", SharedModels::get().toy(), "--device", "cuda"}, "a\n"), 2,
                     {"device \"cuda\""});
}

}  // namespace
}  // namespace verso::cli
