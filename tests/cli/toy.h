#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/cli/harness.h"

/// A language that a small model learns in seconds, and what a run leaves.
namespace verso::cli {

using Json = nlohmann::json;

/// Sentences of `words`, `shortest` to `longest` long; the same ones on every machine.
inline Lines toy_sentences(int count, const Lines& words, int longest, unsigned seed,
                           int shortest = 1) {
  std::mt19937 random(seed);
  Lines lines;
  for (int i = 0; i < count; ++i) {
    const int len =
        shortest + static_cast<int>(random() % static_cast<unsigned>(longest - shortest + 1));
    std::string line;
    for (int k = 0; k < len; ++k) line += (k == 0 ? "" : " ") + words[random() % words.size()];
    lines.push_back(line);
  }
  return lines;
}

inline const Lines kLetters = {"a", "b", "c", "d", "e", "f", "g", "h"};

inline std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

inline Lines upper(Lines lines) {
  for (std::string& line : lines) line = upper(line);
  return lines;
}

inline std::string reversed(const std::string& line) {
  std::string text;
  for (const std::string& word : words_of(line)) text = word + (text.empty() ? "" : " ") + text;
  return text;
}

/// 300 pairs; the target is the source in capitals, so that word i is aligned to word i.
inline Lines toy_source() { return toy_sentences(300, kLetters, 6, 7); }
inline Lines toy_target() { return upper(toy_source()); }

/// A small word model trained on `source` and `target`, written to two files in `folder`, into
/// folder/NAME. Nothing is validated.
inline Json toy_config(const TempFolder& folder, const std::string& source,
                       const std::string& target, const std::string& name = "run") {
  write_all(folder / (name + ".src"), source);
  write_all(folder / (name + ".tgt"), target);
  return {
      {"output", folder / name},
      {"seed", 1},
      {"threads", 1},
      {"data",
       {{"train", {{{"source", folder / (name + ".src")}, {"target", folder / (name + ".tgt")}}}}}},
      {"vocabulary", {{"kind", "word"}}},
      {"model",
       {{"embed", 16},
        {"hidden", 32},
        {"attention", 32},
        {"dropout", {{"embed", 0}, {"encoder", 0}, {"readout", 0}}}}},
      {"training",
       {{"batch_tokens", 100},
        {"learning_rate", 0.005},
        {"max_epochs", 0},
        {"max_updates", 20},
        {"label_smoothing", 0},
        {"schedule", "constant"}}},
      {"validation", {{"samples", 1}, {"patience", 0}}}};
}

inline Json toy_config(const TempFolder& folder, const std::string& name = "run") {
  return toy_config(folder, joined(toy_source()), joined(toy_target()), name);
}

/// Validates on `source` and `target` every so many updates.
inline void add_validation(Json& config, const TempFolder& folder, const Lines& source,
                           const Lines& target, int every) {
  write_all(folder / "valid.src", joined(source));
  write_all(folder / "valid.tgt", joined(target));
  config["data"]["valid"] = {{"source", folder / "valid.src"}, {"target", folder / "valid.tgt"}};
  config["validation"]["every_updates"] = every;
}

/// Writes `config` beside its run folder; the path.
inline std::string write_config_file(const Json& config) {
  const std::string path = config.at("output").get<std::string>() + ".json";
  write_all(path, config.dump(2) + "\n");
  return path;
}

/// verso train CONFIG ARGUMENTS
inline Result train(const Json& config, Lines arguments = {}, const Limits& limits = {}) {
  arguments.insert(arguments.begin(), {"train", write_config_file(config)});
  return run(arguments, {}, limits);
}

inline Result train_well(const Json& config, const Lines& arguments = {}) {
  Result result = train(config, arguments);
  EXPECT_EQ(result.code, 0) << result.err;
  return result;
}

/// metrics.jsonl of a run: its records of one kind.
inline std::vector<Json> metrics(const std::string& run_folder, const std::string& kind) {
  std::vector<Json> records;
  for (const std::string& line : split_lines(read_all(run_folder + "/metrics.jsonl"))) {
    const Json record = Json::parse(line, nullptr, false);
    EXPECT_TRUE(record.is_object()) << line;
    if (record.value("kind", "") == kind) records.push_back(record);
  }
  return records;
}

/// The bytes of each tensor of a safetensors file.
inline std::map<std::string, std::string> tensors_of(const std::string& path) {
  const std::string bytes = read_all(path);
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) throw std::runtime_error(path + ": too short");
  std::memcpy(&length, bytes.data(), sizeof length);
  const Json header = Json::parse(bytes.substr(sizeof length, length));
  std::map<std::string, std::string> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const std::size_t begin = entry.at("data_offsets")[0], end = entry.at("data_offsets")[1];
    tensors[name] = bytes.substr(sizeof length + length + begin, end - begin);
  }
  return tensors;
}

/// Entries of a run's vocabulary, the special ones first.
inline Lines vocabulary_of(const std::string& run_folder, const std::string& side) {
  return split_lines(tensors_of(run_folder + "/last.safetensors").at("vocabulary." + side));
}

/// Models that tests of this program share, each trained when it is first asked for.
class SharedModels {
 public:
  static SharedModels& get() {
    static SharedModels models;
    return models;
  }

  /// Trained well on the toy corpus.
  const std::string& toy() {
    if (toy_.empty()) {
      train_for(toy_config(folder_, "toy"), 600);
      toy_ = folder_ / "toy";
    }
    return toy_;
  }
  /// Target words in reversed order: word i belongs to word n - 1 - i.
  const std::string& mirrored() {
    if (mirrored_.empty()) {
      Lines targets = toy_target();
      for (std::string& line : targets) line = reversed(line);
      train_for(toy_config(folder_, joined(toy_source()), joined(targets), "mirrored"), 450);
      mirrored_ = folder_ / "mirrored";
    }
    return mirrored_;
  }

 private:
  static void train_for(Json config, int updates) {
    config["training"]["max_updates"] = updates;
    config["training"]["learning_rate"] = 0.01;
    config["training"]["schedule"] = "inverse_sqrt";
    config["training"]["warmup"] = 100;
    train_well(config);
  }

  TempFolder folder_;
  std::string toy_, mirrored_;
};

/// verso translate MODEL OPTIONS < lines
inline Lines translate(const std::string& model, const Lines& lines, Lines options = {}) {
  options.insert(options.begin(), {"translate", model});
  Lines out = run_well(options, joined(lines)).lines();
  return out;
}

/// verso align MODEL OPTIONS on given pairs
inline Lines align(const std::string& model, const Lines& sources, const Lines& targets,
                   Lines options = {}) {
  const TempFolder folder;
  write_all(folder / "s", joined(sources));
  write_all(folder / "t", joined(targets));
  options.insert(options.begin(),
                 {"align", model, "--source", folder / "s", "--target", folder / "t"});
  return run_well(options).lines();
}

}  // namespace verso::cli
