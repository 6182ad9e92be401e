#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

/// Files that the tests of metrics and align read.
namespace verso::test {

/// The root is named by $VERSO_SOURCE_DIR, else it is the working directory.
inline std::filesystem::path tests_folder() {
  const char* root = std::getenv("VERSO_SOURCE_DIR");
  return std::filesystem::absolute(root != nullptr ? root : ".") / "tests";
}

/// The folder of real data, which is not part of the repository: $VERSO_SHARED_DATA, else
/// ../shared/data beside it. It may not exist; tests that need it are skipped then.
inline std::filesystem::path shared_data() {
  if (const char* folder = std::getenv("VERSO_SHARED_DATA")) return folder;
  return tests_folder().parent_path().parent_path() / "shared" / "data";
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot open " + path.string());
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Lines as byte 0x0A ends them.
inline std::vector<std::string> read_lines(const std::filesystem::path& path) {
  std::istringstream in(read_text(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_text(path));
}

}  // namespace verso::test

#define SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path) << " is not here"
