// The committed sample of data/sample: what data/README.md promises about it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/text.h"

namespace verso {
namespace {

std::string source_folder() {
  const char* folder = std::getenv("VERSO_SOURCE_DIR");
  return folder != nullptr ? folder : ".";
}

std::vector<std::string> lines_of(const std::string& name) {
  std::ifstream in(cat(source_folder(), "/data/sample/", name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

struct Link {
  std::size_t source = 0, target = 0;
  bool sure = false;
};

Link parse_link(std::string_view text) {
  const std::size_t mark = text.find_first_of("-p");
  EXPECT_NE(mark, std::string_view::npos) << text;
  return {std::stoul(std::string(text.substr(0, mark))),
          std::stoul(std::string(text.substr(mark + 1))), text[mark] == '-'};
}

TEST(Sample, FilesHaveTheirCounts) {
  for (const auto& [split, count] :
       std::map<std::string, std::size_t>{{"train", 4000}, {"valid", 200}, {"test", 300}}) {
    EXPECT_EQ(lines_of(split + ".en").size(), count);
    EXPECT_EQ(lines_of(split + ".fr").size(), count);
  }
  EXPECT_EQ(lines_of("valid.gold").size(), 200U);
  EXPECT_EQ(lines_of("test.gold").size(), 300U);
}

TEST(Sample, NoTextOccursTwice) {
  for (const std::string side : {".en", ".fr"}) {
    std::set<std::string> seen;
    for (const std::string split : {"train", "valid", "test"}) {
      for (const std::string& line : lines_of(split + side)) {
        EXPECT_TRUE(seen.insert(line).second) << split << side << ": " << line;
      }
    }
  }
}

TEST(Sample, SentencesHaveThreeToTwentyTokensWithOneSpaceBetween) {
  for (const std::string name :
       {"train.en", "train.fr", "valid.en", "valid.fr", "test.en", "test.fr"}) {
    for (const std::string& line : lines_of(name)) {
      const std::size_t tokens = split_tokens(line).size();
      EXPECT_TRUE(tokens >= 3 && tokens <= 20) << name << ": " << line;
      EXPECT_EQ(normalize_spaces(line), line);
    }
  }
}

TEST(Sample, EveryWordOfValidAndTestIsInTrain) {
  for (const std::string side : {".en", ".fr"}) {
    std::set<std::string> known;
    for (const std::string& line : lines_of("train" + side)) {
      for (const std::string_view word : split_tokens(line)) known.emplace(word);
    }
    EXPECT_TRUE(known.size() >= 150 && known.size() <= 300) << side << ": " << known.size();
    for (const std::string split : {"valid", "test"}) {
      for (const std::string& line : lines_of(split + side)) {
        for (const std::string_view word : split_tokens(line)) {
          EXPECT_TRUE(known.contains(std::string(word))) << word;
        }
      }
    }
  }
}

TEST(Sample, GoldLinksEveryTargetWordWithAtMostOneSureLinkEach) {
  for (const std::string split : {"valid", "test"}) {
    const auto source = lines_of(split + ".en");
    const auto target = lines_of(split + ".fr");
    const auto gold = lines_of(split + ".gold");
    ASSERT_EQ(gold.size(), source.size());
    for (std::size_t i = 0; i < gold.size(); ++i) {
      std::vector<int> any(split_tokens(target[i]).size()), sure(any.size());
      std::set<std::pair<std::size_t, std::size_t>> seen;
      for (const std::string_view text : split_tokens(gold[i])) {
        const Link link = parse_link(text);
        ASSERT_LT(link.source, split_tokens(source[i]).size()) << split << ":" << i + 1;
        ASSERT_LT(link.target, any.size()) << split << ":" << i + 1;
        EXPECT_TRUE(seen.emplace(link.source, link.target).second) << text << " occurs twice";
        ++any[link.target];
        sure[link.target] += link.sure;
      }
      for (std::size_t j = 0; j < any.size(); ++j) {
        EXPECT_GE(any[j], 1) << split << ":" << i + 1 << " word " << j;
        EXPECT_LE(sure[j], 1) << split << ":" << i + 1 << " word " << j;
      }
    }
  }
}

TEST(Sample, IsWhatItsScriptMakes) {
  if (std::system("python3 --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "no python3";
  const std::string command = cat("python3 '", source_folder(), "/scripts/make_sample' --check");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
}

}  // namespace
}  // namespace verso
