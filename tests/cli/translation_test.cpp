// Translation: the executable as a filter, in a pipe, with every kind of line.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::HasSubstr;

class Translating : public testing::Test {
 protected:
  [[nodiscard]] static const std::string& model() { return SharedModels::get().toy(); }
  TempFolder folder_;
};

/// 200 lines of 1 to 6 words, and long ones beside one-word lines.
Lines mixed_lines() {
  Lines lines = toy_sentences(180, kLetters, 6, 11);
  for (const std::string& line : toy_sentences(10, kLetters, 60, 12, 50)) {
    lines.push_back(line);
    lines.push_back("c");
  }
  return lines;
}

std::vector<Json> records(const Lines& lines) {
  std::vector<Json> parsed;
  for (const std::string& line : lines) parsed.push_back(Json::parse(line));
  return parsed;
}

TEST_F(Translating, R038_BlankLinesStayBlank) {
  const Lines lines = translate(model(), {"", "a b", "", " \t ", "c"});
  EXPECT_EQ(lines, (Lines{"", "A B", "", "", "C"}));
  EXPECT_EQ(run_well({"translate", model()}, "\n").out, "\n");
  EXPECT_EQ(run_well({"translate", model()}, "").out, "");
  EXPECT_EQ(run_well({"translate", model()}, "a b").out, "A B\n");  // no line end in the input
}

TEST_F(Translating, R038_BlankLinesInEveryFormat) {
  EXPECT_EQ(translate(model(), {"", "a", ""}, {"--nbest", "2", "--alignment"}).size(), 4U);
  const auto found = records(translate(model(), {"", "a", ""}, {"--json", "--alignment"}));
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]["text"], "");
  EXPECT_EQ(found[0]["alignment"], Json::array());
  EXPECT_EQ(found[1]["text"], "A");
  EXPECT_EQ(found[2]["id"], 2);
}

TEST_F(Translating, R040_TooLongALineIsCutWithAWarning) {
  std::string monster = "a";
  for (int i = 1; i < 5000; ++i) monster += " a";
  const Result result =
      run_well({"translate", model(), "--beam", "1"}, "a b\nc\n" + monster + "\nd e\nf\n");
  const Lines lines = result.lines();
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[3], "D E");
  EXPECT_EQ(lines[4], "F");
  EXPECT_THAT(result.err, HasSubstr("line 3: 5000 tokens; only the first 500"));
  EXPECT_LT(result.seconds, 60);
}

TEST_F(Translating, R042_BlocksAreInvisible) {
  constexpr std::size_t kBlock = 2000;  // lines that are sorted together
  const Lines all = toy_sentences(2 * kBlock + 1, kLetters, 4, 5);
  const Lines options = {"--beam", "1", "--batch-tokens", "300"};
  const Lines whole = translate(model(), all, options);
  ASSERT_EQ(whole.size(), all.size());
  for (const std::size_t n : {std::size_t{1}, kBlock - 1, kBlock, kBlock + 1}) {
    const Lines head(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(n));
    const Lines found = translate(model(), head, options);
    ASSERT_EQ(found.size(), n);
    EXPECT_TRUE(std::equal(found.begin(), found.end(), whole.begin())) << n;
  }
}

TEST_F(Translating, R044_BatchSizeAndOrderChangeNothing) {
  const Lines lines = mixed_lines();
  std::vector<std::size_t> order(lines.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  Lines shuffled;
  for (const std::size_t i : order) shuffled.push_back(lines[i]);
  for (const char* beam : {"1", "5"}) {
    const auto expected =
        records(translate(model(), lines, {"--json", "--alignment", "--beam", beam}));
    ASSERT_EQ(expected.size(), lines.size());
    const auto expect_same = [&](const Json& found, std::size_t i) {
      EXPECT_EQ(found["text"], expected[i]["text"]) << lines[i] << " beam " << beam;
      EXPECT_EQ(found["alignment"], expected[i]["alignment"]) << lines[i] << " beam " << beam;
      EXPECT_NEAR(found["score"].get<double>(), expected[i]["score"].get<double>(), 1e-4);
    };
    for (const char* tokens : {"1", "60", "500"}) {
      const auto found = records(translate(
          model(), lines, {"--json", "--alignment", "--beam", beam, "--batch-tokens", tokens}));
      ASSERT_EQ(found.size(), lines.size());
      for (std::size_t i = 0; i < found.size(); ++i) expect_same(found[i], i);
    }
    const auto found =
        records(translate(model(), shuffled, {"--json", "--alignment", "--beam", beam}));
    for (std::size_t i = 0; i < found.size(); ++i) expect_same(found[i], order[i]);
  }
}

TEST_F(Translating, R046_EachLineIsAnsweredBeforeTheNextComes) {
  Process process({"translate", model()});
  std::string expected;
  for (const char* word : {"a", "b", "c", "d", "e"}) {
    process.send(std::string(word) + " b\n");
    expected += upper(word) + std::string(" B\n");
    EXPECT_TRUE(process.run_until([&] { return process.output().size() >= expected.size(); },
                                  expected.size() < 5 ? 60 : 20))
        << "no answer to " << word;
    EXPECT_EQ(process.output(), expected);
  }
  EXPECT_EQ(process.finish().code, 0);
}

TEST_F(Translating, R048_AnyBeamWorksWithAnyVocabulary) {
  const Lines source = toy_sentences(300, kLetters, 4, 7);
  Json config = toy_config(folder_, joined(source), joined(Lines(source.size(), "x")));
  config["training"]["max_updates"] = 50;
  train_well(config);
  const Lines few(source.begin(), source.begin() + 20);
  const Lines greedy = translate(folder_ / "run", few, {"--beam", "1"});
  for (const char* beam : {"1", "5", "64"}) {
    const Lines lines = translate(folder_ / "run", few, {"--beam", beam});
    ASSERT_EQ(lines.size(), few.size());
    for (const std::string& line : lines) {
      for (const std::string& word : words_of(line)) EXPECT_EQ(word, "x") << beam;
    }
  }
  const Lines nbest = translate(folder_ / "run", {"a"}, {"--beam", "64", "--nbest", "64"});
  EXPECT_GT(nbest.size(), 0U);
  EXPECT_LE(nbest.size(), 64U);
  for (const char* beam : {"0", "-3", "five"}) {
    expect_clean_error(run({"translate", folder_ / "run", "--beam", beam}, "a\n"), 2, {"beam"});
  }
}

TEST_F(Translating, R050_NBestIsSortedAndAtMostTheBeam) {
  expect_clean_error(run({"translate", model(), "--beam", "3", "--nbest", "5"}, "a\n"), 2,
                     {"n-best 5", "beam of 3"});
  const Lines input = {"a b", "c d e", "f"};
  const Lines plain = translate(model(), input, {"--beam", "3"});
  const Lines nbest = translate(model(), input, {"--beam", "3", "--nbest", "3"});
  ASSERT_EQ(nbest.size(), 9U);
  for (std::size_t i = 0; i < input.size(); ++i) {
    double last = 0;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      const std::string& record = nbest[3 * i + rank];
      const std::size_t first = record.find(" ||| "), second = record.rfind(" ||| ");
      ASSERT_LT(first, second) << record;
      EXPECT_EQ(record.substr(0, first), std::to_string(i));
      if (rank == 0) {
        EXPECT_EQ(record.substr(first + 5, second - first - 5), plain[i]);
      }
      const double score = std::stod(record.substr(second + 5));
      EXPECT_LE(score, last);
      last = score;
    }
  }
}

TEST_F(Translating, R052_ScoresAreOneFormulaAndEqualForcedScores) {
  const Lines input = toy_sentences(12, kLetters, 6, 21);
  const auto found = records(translate(model(), input, {"--json", "--beam", "4", "--nbest", "4"}));
  std::string pairs;
  for (const Json& record : found) {
    pairs +=
        input[record["id"].get<std::size_t>()] + "\t" + record["text"].get<std::string>() + "\n";
  }
  const Lines forced = run_well({"score", model()}, pairs).lines();
  ASSERT_EQ(forced.size(), found.size());
  int compared = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double log_prob = found[i]["log_prob"];
    const auto length = static_cast<double>(found[i]["token_log_probs"].size());
    EXPECT_NEAR(found[i]["score"].get<double>(), log_prob / length, 1e-5);
    if (!found[i]["finished"].get<bool>() || found[i]["text"] == "") continue;
    EXPECT_NEAR(log_prob, std::stod(forced[i]), 1e-4) << found[i];
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST_F(Translating, R052_CutTranslationsAreCountedAndMarked) {
  const Result result = run_well({"translate", model(), "--json", "--max-length-factor", "0",
                                  "--max-length-extra", "2", "--length-penalty", "0"},
                                 "a b c d e f\n");
  const auto found = records(result.lines());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0]["finished"], false);
  const double log_prob = found[0]["log_prob"];
  EXPECT_TRUE(std::isfinite(log_prob));
  EXPECT_NEAR(found[0]["score"].get<double>(), log_prob, 1e-9);  // penalty 0: the sum itself
  double sum = 0;
  for (const Json& value : found[0]["token_log_probs"]) sum += value.get<double>();
  EXPECT_NEAR(sum, log_prob, 1e-4);
  EXPECT_EQ(found[0]["token_log_probs"].size(), 2U);
  EXPECT_THAT(result.err, HasSubstr("1 of 1 translations were cut"));
}

TEST_F(Translating, R054_UnknownWordsComeFromTheirOwnRawLine) {
  // Each sentence has a word of its own, too rare for the vocabulary, copied to the target.
  Lines source = toy_sentences(300, {"a", "b", "c", "d"}, 3, 9), target = upper(source);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::string name = "name" + std::to_string(i);
    if (i % 5 == 0) {
      source[i] = target[i] = name;
      continue;
    }
    source[i] = i % 2 == 0 ? name + " " + source[i] : source[i] + " " + name;
    target[i] = i % 2 == 0 ? name + " " + target[i] : target[i] + " " + name;
  }
  Json config = toy_config(folder_, joined(source), joined(target));
  config["vocabulary"]["min_frequency"] = 2;
  config["training"].merge_patch({{"max_updates", 350},
                                  {"learning_rate", 0.01},
                                  {"warmup", 100},
                                  {"schedule", "inverse_sqrt"}});
  train_well(config);
  Lines input = {"Zoe a", "b c Yan", "Xu", "Will d a", "a Vera"};
  const Lines expected = {"Zoe A", "B C Yan", "Xu", "Will D A", "A Vera"};
  EXPECT_EQ(translate(folder_ / "run", input, {"--replace-unknown"}), expected);
  std::reverse(input.begin(), input.end());
  EXPECT_EQ(translate(folder_ / "run", input, {"--replace-unknown"}),
            Lines(expected.rbegin(), expected.rend()));
  write_all(folder_ / "names", "Xu Su\nWill Guillaume\n");
  EXPECT_EQ(translate(folder_ / "run", {"Xu", "Will d a"},
                      {"--replace-unknown", "--dictionary", folder_ / "names"}),
            (Lines{"Su", "Guillaume D A"}));
}

TEST_F(Translating, R056_LengthIsBoundedAndNGramsDoNotRepeat) {
  Json config = toy_config(folder_);
  train_well(config);  // 20 updates: it knows nothing yet
  const Lines input = toy_sentences(40, kLetters, 6, 31);
  const Lines plain = translate(folder_ / "run", input);
  ASSERT_EQ(plain.size(), input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    EXPECT_LE(words_of(plain[i]).size(), 3 * words_of(input[i]).size() + 10);
  }
  EXPECT_EQ(translate(folder_ / "run", input, {"--no-repeat-ngram", "0"}), plain);
  for (const char* beam : {"1", "5"}) {
    const Lines lines =
        translate(folder_ / "run", input,
                  {"--no-repeat-ngram", "2", "--beam", beam, "--batch-tokens", "200"});
    for (const std::string& line : lines) {
      const Lines words = words_of(line);
      std::set<std::string> bigrams;
      for (std::size_t i = 1; i < words.size(); ++i) {
        EXPECT_TRUE(bigrams.insert(words[i - 1] + " " + words[i]).second) << line;
      }
    }
  }
}

TEST_F(Translating, SeveralModelsAreAnEnsembleAndMustShareVocabularies) {
  EXPECT_EQ(run_well({"translate", model(), model() + "/last.safetensors"}, "a b\n").out, "A B\n");
  Json config = toy_config(folder_, "x\n", "Y\n");
  config["training"]["max_updates"] = 1;
  train_well(config);
  expect_clean_error(run({"translate", model(), folder_ / "run"}, "a b\n"), 2,
                     {folder_ / "run", "vocabular"});
}

}  // namespace
}  // namespace verso::cli
