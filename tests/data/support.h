#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "data/corpus.h"

namespace verso {

/// A folder of its own for a test, removed at its end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "verso-data-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw DataError("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

 private:
  std::string path_;
};

/// The message of the DataError that `action` throws; fails the test when it throws none.
inline std::string data_error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const DataError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no DataError was thrown";
  return "";
}

inline std::vector<std::string> read_lines(const std::string& path) {
  LineReader reader(path);
  std::vector<std::string> lines;
  std::string line;
  while (reader.next(line)) lines.push_back(line);
  return lines;
}

/// Training lines for train_vocabulary() from a list.
inline std::function<bool(std::string&)> lines_of(std::vector<std::string> lines) {
  return [lines = std::move(lines), next = std::size_t{0}](std::string& line) mutable {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
}

/// A file of the shared test data, or "" where that is not there.
inline std::string shared_file(const std::string& name) {
  const char* folder = std::getenv("VERSO_SHARED_DATA");
  const auto source = std::filesystem::path(__FILE__).parent_path();
  const auto root = folder != nullptr ? std::filesystem::path(folder)
                                      : source.parent_path().parent_path() / "../shared/data";
  const auto path = root / name;
  return std::filesystem::exists(path) ? path.string() : "";
}

}  // namespace verso

#define VERSO_SKIP_WITHOUT(path) \
  if ((path).empty()) GTEST_SKIP() << "the shared test data is not there"
