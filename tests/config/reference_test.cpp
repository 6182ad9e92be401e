#include "config/reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "config/config.h"
#include "config/schema.h"
#include "config/write.h"

namespace verso {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::filesystem::path configs_folder() {
  const char* root = std::getenv("VERSO_SOURCE_DIR");
  return std::filesystem::path(root != nullptr ? root : ".") / "configs";
}

TEST(GeneratedFiles, AreUpToDate) {
  const auto folder = configs_folder();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  EXPECT_EQ(read_file(folder / "schema.json"), config_schema())
      << "run: verso config schema > configs/schema.json";
  EXPECT_EQ(read_file(folder / "REFERENCE.md"), config_reference())
      << "run: verso config reference > configs/REFERENCE.md";
}

TEST(ConfigReference, ShowsTypeDefaultRangeAndMeaning) {
  const std::string page = config_reference();
  EXPECT_THAT(page, HasSubstr("| `threads` | integer | `0` | 0 to 1024 | CPU threads"));
  EXPECT_THAT(page, HasSubstr("## `data.train[]`"));
  EXPECT_THAT(page, HasSubstr("## `model.dropout`"));
  EXPECT_THAT(page,
              HasSubstr("| `kind` | choice | `\"bpe\"` | `word`, `char`, `bpe`, `unigram` |"));
}

/// Walks the schema along the keys of a written configuration.
void expect_described(const json& schema, const json& value, const std::string& path) {
  if (value.is_object()) {
    EXPECT_EQ(schema.at("additionalProperties"), false) << path;
    EXPECT_EQ(schema.at("properties").size(), value.size()) << path;
    for (const auto& [key, inner] : value.items()) {
      ASSERT_TRUE(schema.at("properties").contains(key)) << path << "." << key;
      expect_described(schema.at("properties").at(key), inner, path + "." + key);
    }
  } else if (value.is_array()) {
    EXPECT_EQ(schema.at("type"), "array") << path;
    expect_described(schema.at("items"), value.at(0), path + "[]");
  } else {
    EXPECT_EQ(schema.at("default"), value) << path;
    EXPECT_FALSE(schema.at("description").empty()) << path;
    if (value.is_number()) {
      EXPECT_LE(schema.at("minimum"), value) << path;
      EXPECT_GE(schema.at("maximum"), value) << path;
    }
  }
}

TEST(ConfigSchema, DescribesEveryKeyOfAWrittenConfig) {
  Config config;
  config.data.train.resize(1);
  const json schema = json::parse(config_schema());
  EXPECT_EQ(schema.at("$schema"), "https://json-schema.org/draft/2020-12/schema");
  expect_described(schema, json::parse(write_config(config)), "");
  EXPECT_EQ(schema.at("properties").at("device").at("enum"), json({"auto", "cpu", "cuda"}));
}

}  // namespace
}  // namespace verso
