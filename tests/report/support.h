#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/text.h"
#include "train/gradient_record.h"

/// Run folders and probe records for the tests of report.
namespace verso::test {

/// A folder that is empty at first and gone with the object.
class Folder {
 public:
  explicit Folder(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / cat("verso-report-", name, "-", getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string path(const std::string& name = "") const {
    return name.empty() ? path_.string() : (path_ / name).string();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }

 private:
  std::filesystem::path path_;
};

/// A record of these words with numbers that differ from each other; `seed` shifts them.
inline GradientRecord some_record(std::vector<std::string> source, std::vector<std::string> target,
                                  double seed = 0) {
  GradientRecord record;
  record.source = std::move(source);
  record.target = std::move(target);
  record.loss = 3 + seed;
  record.target_tokens = static_cast<std::int64_t>(record.target.size()) + 1;
  const std::size_t rows = record.target.size() + 1, columns = record.source.size() + 1;
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t j = 0; j < columns; ++j) {
      record.alpha.push_back((1.0 + static_cast<double>(j)) /
                             static_cast<double>(columns * (columns + 1) / 2));
      record.advantage.push_back(static_cast<double>(t) - static_cast<double>(j) * 0.5 + seed);
      record.g.push_back(record.advantage.back() + static_cast<double>(t + 10));
    }
    record.context_gradient.push_back(0.25 * static_cast<double>(t + 1));
  }
  for (std::size_t j = 0; j < columns; ++j) {
    record.state_gradient.push_back(static_cast<double>(j) + 1);
    record.shares.push_back({0.5, 0.25, 0.35, -0.1});
  }
  return record;
}

/// A line of probe.jsonl, line end included.
inline std::string probe_line(std::int64_t update, std::int64_t pair, const GradientRecord& record,
                              const std::string& links = "") {
  return cat("{\"update\":", update, ",\"pair\":", pair, ",", json_fields(record),
             links.empty() ? "" : cat(",\"links\":\"", links, "\""), "}\n");
}

}  // namespace verso::test
