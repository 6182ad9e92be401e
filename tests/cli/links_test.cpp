// Links between commands: align, symmetrize, evaluate, and training that links guide.
#include <algorithm>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::HasSubstr;

class Linking : public testing::Test {
 protected:
  TempFolder folder_;
};

TEST_F(Linking, SymmetrizeMergesLineByLine) {
  write_all(folder_ / "f", "0-0 1-1\n\n2-0:0.5\n");
  write_all(folder_ / "r", "0-0 2-1\n\n0-2\n");
  const Result swapped =
      run({"symmetrize", folder_ / "f", folder_ / "r", "--swap-reverse", "--method", "union"});
  EXPECT_EQ(swapped.code, 0) << swapped.err;
  EXPECT_EQ(swapped.out, "0-0 1-1 1-2\n\n2-0\n");
  const Result plain = run({"symmetrize", folder_ / "f", folder_ / "r"});
  EXPECT_EQ(plain.out, "0-0 1-1 2-1\n\n\n");
}

TEST_F(Linking, SymmetrizeTakesWhatSoftLinksOfBothDirectionsAgreeOn) {
  write_all(folder_ / "f", "0-0:0.9 1-1:0.4\n\n2-0:0.5\n");
  write_all(folder_ / "r", "0-0:0.4 1-1:0.05\n\n0-2:0.5 1-1:1\n");
  const Lines agree = {"symmetrize",     folder_ / "f", folder_ / "r",
                       "--swap-reverse", "--method",    "agreement"};
  const auto with = [&agree](const Lines& more) {
    Lines all = agree;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  EXPECT_EQ(with({}).out, "0-0\n\n2-0\n");
  EXPECT_EQ(with({"--threshold", "0.1", "--with-weights"}).out,
            "0-0:0.6000 1-1:0.1414\n\n2-0:0.5000\n");
  EXPECT_EQ(with({"--threshold", "0"}).code, 2);
  write_all(folder_ / "r", "0-0\n\n0-2:-0.5\n");
  const Result negative = with({});
  EXPECT_EQ(negative.code, 4);
  EXPECT_THAT(negative.err, HasSubstr("r:3: link 0-2 weighs -0.5000; expected weights from 0"));
  EXPECT_EQ(run({"symmetrize", folder_ / "f", folder_ / "f", "--threshold", "0.5"}).code, 2);
}

TEST_F(Linking, PosteriorAttentionIsAnotherReadingOfTheSamePairs) {
  const std::string& model = SharedModels::get().toy();
  const std::string pairs = "a b c\tB A C\n\tA\nd\tD\n";
  const Result prior = run({"align", model, "--format", "json"}, pairs);
  const Result posterior =
      run({"align", model, "--format", "json", "--attention", "posterior"}, pairs);
  ASSERT_EQ(posterior.code, 0) << posterior.err;
  const Lines before = split_lines(prior.out), after = split_lines(posterior.out);
  ASSERT_EQ(after.size(), 3U);
  double most = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Json a = Json::parse(before[i]), b = Json::parse(after[i]);
    EXPECT_NEAR(a["score"].get<double>(), b["score"].get<double>(), 1e-4);
    ASSERT_EQ(a["matrix"].size(), b["matrix"].size());
    for (std::size_t t = 0; t < a["matrix"].size(); ++t) {
      for (std::size_t j = 0; j < a["matrix"][t].size(); ++j) {
        most = std::max(
            most, std::abs(a["matrix"][t][j].get<double>() - b["matrix"][t][j].get<double>()));
      }
    }
  }
  EXPECT_GT(most, 1e-4);
  const Result shifted = run({"align", model, "--attention", "posterior", "--shift", "1"}, pairs);
  EXPECT_EQ(shifted.code, 2);
  EXPECT_THAT(shifted.err, HasSubstr("--attention posterior"));
}

TEST_F(Linking, SymmetrizeNamesWhatIsWrong) {
  write_all(folder_ / "f", "0-0\n1-1\n");
  write_all(folder_ / "short", "0-0\n");
  write_all(folder_ / "bad", "0-0\n1 1\n");
  const Result uneven = run({"symmetrize", folder_ / "f", folder_ / "short"});
  EXPECT_EQ(uneven.code, 4);
  EXPECT_THAT(uneven.err, HasSubstr("has 2 lines"));
  const Result bad = run({"symmetrize", folder_ / "f", folder_ / "bad"});
  EXPECT_EQ(bad.code, 4);
  EXPECT_THAT(bad.err, HasSubstr("bad:2: \"1\" is not a link"));
  EXPECT_EQ(run({"symmetrize", "-", "-"}).code, 2);
  EXPECT_EQ(run({"symmetrize", folder_ / "f", folder_ / "f", "--method", "magic"}).code, 2);
}

TEST_F(Linking, TheShiftIsChosenOnGoldLinks) {
  const std::string& model = SharedModels::get().toy();
  const Lines source = toy_sentences(40, kLetters, 6, 3, 3), target = upper(source);
  std::string gold;
  for (const std::string& line : source) {
    for (std::size_t i = 0; i < words_of(line).size(); ++i) {
      gold += std::to_string(i + 1) + "-" + std::to_string(i + 1) + " ";
    }
    gold += "\n";
  }
  write_all(folder_ / "s", joined(source));
  write_all(folder_ / "t", joined(target));
  write_all(folder_ / "g", gold);
  const Lines pair = {"align", model, "--source", folder_ / "s", "--target", folder_ / "t"};
  const auto with = [&pair](const Lines& more) {
    Lines all = pair;
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  const Result chosen = with({"--shift", "auto", "--dev-source", folder_ / "s", "--dev-target",
                              folder_ / "t", "--dev-gold", folder_ / "g", "--dev-gold-index", "1"});
  EXPECT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_THAT(chosen.err, HasSubstr("shift 0: AER "));
  EXPECT_THAT(chosen.err, HasSubstr(" is taken"));
  EXPECT_EQ(chosen.out, with({"--shift", "0"}).out);
  EXPECT_NE(chosen.out, with({"--shift", "1"}).out);
  EXPECT_EQ(with({"--shift", "auto"}).code, 2);
  EXPECT_EQ(with({"--dev-gold", folder_ / "g"}).code, 2);
  EXPECT_EQ(with({"--shift", "3"}).code, 2);
}

TEST_F(Linking, TranslationsAndTheirForcedAlignmentsAgreeAtEveryShift) {
  const std::string& model = SharedModels::get().toy();
  const Lines source = toy_sentences(20, kLetters, 6, 5, 2);
  for (const std::string shift : {"0", "1", "2"}) {
    const Result translated =
        run({"translate", model, "--alignment", "--shift", shift}, joined(source));
    ASSERT_EQ(translated.code, 0) << translated.err;
    std::string pairs, links;
    const Lines records = split_lines(translated.out);
    ASSERT_EQ(records.size(), source.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
      const std::size_t bar = records[i].find(" ||| ");
      pairs += source[i] + "\t" + records[i].substr(0, bar) + "\n";
      links += records[i].substr(bar + 5) + "\n";
    }
    EXPECT_EQ(run({"align", model, "--shift", shift}, pairs).out, links) << shift;
  }
}

TEST_F(Linking, TrainingIsGuidedByLinksAndScoresThem) {
  Json config = toy_config(folder_, joined(toy_source()), joined(toy_target()));
  std::string links;
  for (const std::string& line : toy_source()) {
    for (std::size_t i = 0; i < words_of(line).size(); ++i) {
      links += std::to_string(i) + "-" + std::to_string(i) + " ";
    }
    links += "\n";
  }
  write_all(folder_ / "links", links);
  config["data"]["train"][0]["links"] = folder_ / "links";
  config["data"]["valid"] = config["data"]["train"][0];
  config["data"]["valid"].erase("weight");
  config["training"]["max_updates"] = 150;
  config["validation"]["metric"] = "aer";
  write_all(folder_ / "c.json", config.dump());
  const Result trained = run({"train", folder_ / "c.json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_THAT(trained.err, HasSubstr("attention: AER 0.0"));
  EXPECT_THAT(read_all(folder_ / "run/metrics.jsonl"), HasSubstr("\"guided\":"));

  write_all(folder_ / "links", links + "0-0\n");
  const Result longer = run({"train", folder_ / "c.json", "--overwrite"});
  EXPECT_EQ(longer.code, 4);
  EXPECT_THAT(longer.err, HasSubstr("links has 301 lines, but "));
  write_all(folder_ / "links", "99-0\n" + links.substr(links.find('\n') + 1));
  EXPECT_THAT(run({"train", folder_ / "c.json", "--overwrite"}).err,
              HasSubstr("links:1: link 99-0, but the source line has"));
  EXPECT_EQ(run({"config", "check", folder_ / "c.json"}).code, 4);
}

TEST_F(Linking, AnErrorRateNeedsGoldLinks) {
  Json config = toy_config(folder_, "a\n", "A\n");
  config["data"]["valid"] = config["data"]["train"][0];
  config["validation"]["metric"] = "aer";
  write_all(folder_ / "c.json", config.dump());
  const Result refused = run({"config", "check", folder_ / "c.json"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, HasSubstr("data.valid.links is empty"));
}

}  // namespace
}  // namespace verso::cli
