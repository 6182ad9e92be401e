// Alignments: links, matrices and pictures that the executable exports.
#include <algorithm>

#include "tests/cli/toy.h"

namespace verso::cli {
namespace {

using testing::HasSubstr;

class Aligning : public testing::Test {
 protected:
  [[nodiscard]] static const std::string& model() { return SharedModels::get().toy(); }
  TempFolder folder_;
};

std::vector<std::pair<int, int>> links_of(const std::string& line) {
  std::vector<std::pair<int, int>> links;
  for (const std::string& link : words_of(line)) {
    const std::size_t dash = link.find('-');
    EXPECT_NE(dash, std::string::npos) << line;
    links.emplace_back(std::stoi(link.substr(0, dash)), std::stoi(link.substr(dash + 1)));
  }
  return links;
}

/// Every index is that of a word, and each target word has one link.
void expect_links_of_words(const std::string& line, const std::string& source,
                           const std::string& target) {
  auto links = links_of(line);
  EXPECT_TRUE(std::is_sorted(links.begin(), links.end())) << line;
  std::sort(links.begin(), links.end(), [](auto a, auto b) { return a.second < b.second; });
  const auto source_len = static_cast<int>(words_of(source).size());
  const auto target_len = static_cast<int>(words_of(target).size());
  ASSERT_EQ(static_cast<int>(links.size()), target_len) << line << " for " << target;
  for (int i = 0; i < target_len; ++i) {
    EXPECT_EQ(links[static_cast<std::size_t>(i)].second, i) << line;
    EXPECT_GE(links[static_cast<std::size_t>(i)].first, 0) << line;
    EXPECT_LT(links[static_cast<std::size_t>(i)].first, source_len) << line;
  }
}

/// Trained on letters that are each written three times in the target.
class AligningTriples : public Aligning {
 protected:
  void SetUp() override {
    const Lines source = toy_sentences(300, kLetters, 3, 7);
    Lines target;
    for (const std::string& line : source) {
      std::string tripled;
      for (const std::string& word : words_of(upper(line))) {
        tripled += (tripled.empty() ? "" : " ") + word + " " + word + " " + word;
      }
      target.push_back(tripled);
    }
    Json config = toy_config(folder_, joined(source), joined(target));
    config["training"].merge_patch({{"max_updates", 400},
                                    {"learning_rate", 0.01},
                                    {"warmup", 100},
                                    {"schedule", "inverse_sqrt"},
                                    {"batch_tokens", 200}});
    train_well(config);
  }
};

TEST_F(Aligning, R057_LinksAreBetweenWordsSourceFirst) {
  EXPECT_EQ(align(model(), {"a b c"}, {"A B C"}), Lines{"0-0 1-1 2-2"});
  const Lines source = toy_source(), target = toy_target();
  const Lines links = align(model(), source, target);
  ASSERT_EQ(links.size(), source.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    expect_links_of_words(links[i], source[i], target[i]);
  }
  EXPECT_EQ(align(SharedModels::get().mirrored(), {"a b c d"}, {"D C B A"}),
            Lines{"0-3 1-2 2-1 3-0"});
}

TEST_F(Aligning, R057_MatricesSayWhetherEndSymbolsAreThere) {
  const Json words = Json::parse(align(model(), {"a b c"}, {"A B C"}, {"--format", "json"}).at(0));
  EXPECT_EQ(words["source_end"], false);
  EXPECT_EQ(words["target_end"], false);
  ASSERT_EQ(words["matrix"].size(), 3U);
  for (const Json& row : words["matrix"]) {
    ASSERT_EQ(row.size(), 3U);
    double sum = 0;
    for (const Json& weight : row) sum += weight.get<double>();
    EXPECT_GT(sum, 0.0);
    EXPECT_LE(sum, 1.00001);
  }
  const Json ends =
      Json::parse(align(model(), {"a b c"}, {"A B C"}, {"--format", "json", "--with-end"}).at(0));
  EXPECT_EQ(ends["source_end"], true);
  EXPECT_EQ(ends["target_end"], true);
  ASSERT_EQ(ends["matrix"].size(), 4U);
  for (const Json& row : ends["matrix"]) {
    ASSERT_EQ(row.size(), 4U);
    double sum = 0;
    for (const Json& weight : row) sum += weight.get<double>();
    EXPECT_NEAR(sum, 1.0, 1e-4);
  }
}

TEST_F(AligningTriples, R059_DirectionsCanBeChosen) {
  const Lines source = {"a b"}, target = {"A A A B B B"};
  EXPECT_EQ(align(folder_ / "run", source, target), Lines{"0-0 0-1 0-2 1-3 1-4 1-5"});
  const auto per_source =
      links_of(align(folder_ / "run", source, target, {"--per", "source"}).at(0));
  ASSERT_EQ(per_source.size(), 2U);
  EXPECT_EQ(per_source[0].first, 0);
  EXPECT_LT(per_source[0].second, 3);
  EXPECT_EQ(per_source[1].first, 1);
  EXPECT_GE(per_source[1].second, 3);
  EXPECT_EQ(
      links_of(align(folder_ / "run", source, target, {"--per", "all", "--threshold", "0"}).at(0))
          .size(),
      12U);
  EXPECT_EQ(align(folder_ / "run", source, target, {"--per", "all", "--threshold", "1"}),
            Lines{""});
  EXPECT_THAT(run_well({"align", "--help"}).out, HasSubstr("from 0, source first"));
}

TEST_F(Aligning, R061_IndicesAreThoseOfTheWordsAsGiven) {
  const Lines odd = {"@@",
                     "a@@",
                     "\xE2\x96\x81"
                     "b",
                     ",",
                     ".",
                     "'",
                     "a-b",
                     "0-0",
                     "c",
                     "|||"};
  Lines source = toy_sentences(100, odd, 7, 1), target = toy_sentences(100, odd, 7, 2);
  for (std::size_t i = 0; i < source.size(); i += 3) source[i] = "  " + source[i] + " \t x ";
  const Lines links = align(model(), source, target);
  ASSERT_EQ(links.size(), source.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    expect_links_of_words(links[i], source[i], target[i]);
  }
}

TEST_F(Aligning, R061_SubwordsAreMergedToWords) {
  Lines words;
  for (const char* stem : {"haus", "baum", "garten",
                           "stra\xC3\x9F"
                           "e"}) {
    for (const char* tail : {"", "er", "chen", "lein"}) words.push_back(std::string(stem) + tail);
  }
  const Lines source = toy_sentences(150, words, 4, 4);
  Json config = toy_config(folder_, joined(source), joined(source));
  config["vocabulary"] = {{"kind", "bpe"}, {"source_size", 40}, {"target_size", 40}};
  config["training"]["max_updates"] = 5;
  train_well(config);
  const Lines some(source.begin(), source.begin() + 30);
  const Lines links = align(folder_ / "run", some, some);
  ASSERT_EQ(links.size(), some.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    expect_links_of_words(links[i], some[i], some[i]);
  }
  const Json pieces = Json::parse(
      align(folder_ / "run", {"gartenchen"}, {"gartenchen"}, {"--format", "json", "--pieces"})
          .at(0));
  EXPECT_GT(pieces["source"].size(), 1U);
}

TEST_F(Aligning, R063_LinksOfTranslationsEqualForcedLinks) {
  const Lines input = toy_sentences(40, kLetters, 6, 41);
  std::vector<Json> found;
  for (const std::string& line : translate(
           model(), input,
           {"--json", "--alignment", "--beam", "5", "--nbest", "3", "--batch-tokens", "200"})) {
    found.push_back(Json::parse(line));
  }
  Lines sources, targets;
  std::vector<Json> finished;
  for (const Json& record : found) {
    if (!record["finished"].get<bool>()) continue;
    sources.push_back(input[record["id"].get<std::size_t>()]);
    targets.push_back(record["text"]);
    finished.push_back(record);
  }
  ASSERT_GT(finished.size(), 80U);
  const Lines forced = align(model(), sources, targets, {"--format", "json", "--with-end"});
  const Lines links = align(model(), sources, targets);
  ASSERT_EQ(forced.size(), finished.size());
  for (std::size_t i = 0; i < forced.size(); ++i) {
    std::string own;
    for (const Json& link : finished[i]["alignment"]) {
      own += (own.empty() ? "" : " ") + link[0].dump() + "-" + link[1].dump();
    }
    EXPECT_EQ(own, links[i]) << sources[i] << " / " << targets[i];
    const Json expected = Json::parse(forced[i])["matrix"], matrix = finished[i]["matrix"];
    ASSERT_EQ(matrix.size(), expected.size()) << targets[i];
    for (std::size_t row = 0; row < matrix.size(); ++row) {
      ASSERT_EQ(matrix[row].size(), expected[row].size());
      for (std::size_t column = 0; column < matrix[row].size(); ++column) {
        EXPECT_NEAR(matrix[row][column].get<double>(), expected[row][column].get<double>(), 1e-4);
      }
    }
  }
}

TEST_F(Aligning, R065_GivenPairsAreAlignedAsGiven) {
  expect_links_of_words(align(model(), {"a b c"}, {"H H H"}).at(0), "a b c", "H H H");
  EXPECT_EQ(translate(model(), {"a b c"}, {"--alignment"}), Lines{"A B C ||| 0-0 1-1 2-2"});
  const std::string help = run_well({"align", "--help"}).out;
  EXPECT_THAT(help, HasSubstr("Aligns the pairs it is given"));
  EXPECT_THAT(help, HasSubstr("verso translate --alignment"));
}

TEST_F(Aligning, R067_PaddingIsNeverAligned) {
  Lines source, target;
  for (const std::string& line : toy_sentences(20, kLetters, 50, 51, 45)) {
    source.push_back(line);
    target.push_back(upper(line));
    source.push_back("a");
    target.push_back("A");
  }
  const Lines links = align(model(), source, target);
  ASSERT_EQ(links.size(), source.size());
  std::string pairs;
  for (std::size_t i = 0; i < links.size(); ++i) {
    expect_links_of_words(links[i], source[i], target[i]);
    if (i % 2 == 1) {
      EXPECT_EQ(links[i], "0-0");
    }
  }
  // Pair by pair through a pipe: each is a batch of its own.
  Process process({"align", model()});
  for (std::size_t i = 0; i < links.size(); ++i) {
    process.send(source[i] + "\t" + target[i] + "\n");
    ASSERT_TRUE(process.run_until(
        [&] {
          const auto count = std::count(process.output().begin(), process.output().end(), '\n');
          return static_cast<std::size_t>(count) > i;
        },
        60));
  }
  EXPECT_EQ(process.finish().lines(), links);
}

TEST_F(Aligning, R069_EmptySidesGiveEmptyLines) {
  const std::string pairs = "a b\tA B\n\tA\nc\tC\nd\t\n e f \tE F\n";
  EXPECT_EQ(run_well({"align", model()}, pairs).lines(),
            (Lines{"0-0 1-1", "", "0-0", "", "0-0 1-1"}));
  const Result scored = run_well({"score", model()}, pairs);
  const Lines scores = scored.lines();
  ASSERT_EQ(scores.size(), 5U);
  EXPECT_EQ(scores[1], "");
  EXPECT_EQ(scores[3], "");
  EXPECT_THAT(scored.err, HasSubstr("scored 3 of 5 pairs"));
  EXPECT_EQ(scored.err.find("nan"), std::string::npos);
  EXPECT_THAT(run_well({"score", model()}, "\t\n").err, HasSubstr("scored 0 of 1 pairs"));

  const Result broken = run({"align", model()}, "a\tA\nb B\nc\tC\n");
  EXPECT_EQ(broken.code, 4);
  EXPECT_THAT(broken.err, HasSubstr("stdin:2: 0 tabs, expected 1"));
  EXPECT_EQ(broken.out, "0-0\n");
}

TEST_F(Aligning, R071_TokensAreRunsOfAsciiWhiteSpace) {
  const Lines links = align(model(),
                            {"  a   b c ", "a b c",
                             "a\xC2\xA0"
                             "b c"},
                            {" A  B C", "A B C",
                             "A\xC2\xA0"
                             "B C"});
  EXPECT_EQ(links[0], "0-0 1-1 2-2");
  EXPECT_EQ(links[1], links[0]);
  expect_links_of_words(links[2], "a+b c", "A+B C");
  EXPECT_EQ(links_of(links[2]).size(), 2U);
  EXPECT_EQ(align(model(), {"a   b\t c "}, {"A B C"}), Lines{"0-0 1-1 2-2"});
}

TEST_F(Aligning, R073_LinksForTrainingAreNotOffered) {
  Json config = toy_config(folder_);
  config["data"]["train"][0]["alignments"] = folder_ / "links";
  expect_clean_error(train(config), 3, {"alignments", "unknown"});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run"));
}

}  // namespace
}  // namespace verso::cli
