#include "train/tensorboard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "base/files.h"
#include "tests/train/toy_run.h"

namespace verso {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using test::Recorder;
using test::ToyRun;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

struct Event {
  double time = 0;
  std::int64_t step = 0;
  std::string version;
  std::map<std::string, float> values;
};
/// All of an event but its time.
using Curves = std::vector<std::pair<std::int64_t, std::map<std::string, float>>>;

/// CRC-32C bit by bit, as its definition has it.
std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0x82f63b78U : crc >> 1;
  }
  return ~crc;
}

/// Takes the format apart from its beginning; throws where it is not as it should be.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool at_end() const { return rest_.empty(); }

  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw std::runtime_error("torn");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value;  // little-endian, as the machines that run this are
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  }
  Reader part() { return Reader(take(varint())); }
  std::string text() { return std::string(take(varint())); }

  std::string_view checked(std::uint64_t size) {
    const std::string_view bytes = take(size);
    const std::uint32_t crc = crc32c(bytes);
    if (number<std::uint32_t>() != (crc >> 15 | crc << 17) + 0xa282ead8U) {
      throw std::runtime_error("wrong check");
    }
    return bytes;
  }
  Reader record() { return Reader(checked(Reader(checked(8)).number<std::uint64_t>())); }

 private:
  std::string_view rest_;
};

void read_value(Reader value, Event& event) {
  std::string tag;
  float number = std::numeric_limits<float>::quiet_NaN();
  while (!value.at_end()) {
    const std::uint64_t key = value.varint();
    if (key == (1 << 3 | 2)) {
      tag = value.text();
    } else if (key == (2 << 3 | 5)) {
      number = value.number<float>();
    } else {
      throw std::runtime_error("unknown field of a value");
    }
  }
  if (!event.values.emplace(tag, number).second) throw std::runtime_error("a tag twice");
}

Event read_event(Reader record) {
  Event event;
  while (!record.at_end()) {
    const std::uint64_t key = record.varint();
    if (key == (1 << 3 | 1)) {
      event.time = record.number<double>();
    } else if (key == (2 << 3 | 0)) {
      event.step = static_cast<std::int64_t>(record.varint());
    } else if (key == (3 << 3 | 2)) {
      event.version = record.text();
    } else if (key == (5 << 3 | 2)) {
      for (Reader summary = record.part(); !summary.at_end();) {
        if (summary.varint() != (1 << 3 | 2)) throw std::runtime_error("unknown field of summary");
        read_value(summary.part(), event);
      }
    } else {
      throw std::runtime_error("unknown field of an event");
    }
  }
  return event;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Of the only event file in a folder.
std::string bytes_in(const std::string& folder) {
  const auto names = names_in(folder);
  EXPECT_EQ(names.size(), 1U);
  return read_file(folder + "/" + names.at(0));
}

std::vector<Event> events_in(const std::string& folder) {
  const std::string bytes = bytes_in(folder);
  std::vector<Event> events;
  for (Reader file(bytes); !file.at_end();) events.push_back(read_event(file.record()));
  return events;
}

/// Of the events after the first, which tells the version. Speed, which is a clock's, on request.
Curves curves_in(const std::string& folder, bool with_speed = true) {
  Curves curves;
  const auto events = events_in(folder);
  EXPECT_EQ(events.at(0).version, "brain.Event:2");
  EXPECT_TRUE(events[0].values.empty());
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_EQ(events[i].version, "");
    curves.emplace_back(events[i].step, events[i].values);
    if (!with_speed) curves.back().second.erase("train/tokens_per_second");
  }
  return curves;
}

/// What metrics.jsonl says that the events are to be.
Curves curves_of(const std::string& metrics) {
  const std::set<std::string> others = {"update",      "seconds", "elapsed", "left_to_validation",
                                        "best_update", "left",    "patience"};
  Curves curves;
  std::istringstream in(read_file(metrics));
  for (std::string text; std::getline(in, text);) {
    const ordered_json line = ordered_json::parse(text);
    if (line["kind"] == "end") continue;
    curves.emplace_back(line["update"], std::map<std::string, float>{});
    for (const auto& [key, value] : line.items()) {
      if (!value.is_number() || others.contains(key)) continue;
      curves.back().second[line["kind"].get<std::string>() + "/" + key] = value.get<float>();
    }
  }
  return curves;
}

Config watched(const ToyRun& toy, const std::string& name) {
  Config config = toy.config(name);
  config.probe = {2, 7, 3};
  return config;
}

TEST(TensorBoard, TheTestsReaderKnowsCrc32c) { EXPECT_EQ(crc32c("123456789"), 0xe3069283U); }

// R098
TEST(TensorBoard, R098_EventsAreTheLinesOfMetrics) {
  const ToyRun toy("tensorboard");
  Recorder recorder;
  static_cast<void>(ToyRun::run(watched(toy, "run"), recorder));
  const Curves curves = curves_in(toy.path("run/tensorboard"));
  EXPECT_EQ(curves, curves_of(toy.path("run/metrics.jsonl")));
  std::set<std::string> tags;
  for (const auto& [step, values] : curves) {
    for (const auto& [tag, value] : values) tags.insert(tag);
  }
  for (const char* tag :
       {"train/loss", "train/learning_rate", "train/gradient_norm", "validation/bleu",
        "validation/without_gain", "probe/value_share", "probe/energy_gradient"}) {
    EXPECT_TRUE(tags.contains(tag)) << tag;
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  double before = now.count() - 600;
  for (const Event& event : events_in(toy.path("run/tensorboard"))) {
    EXPECT_GE(event.time, before);
    before = event.time;
  }
  EXPECT_LE(before, now.count());
}

TEST(TensorBoard, OfAResumedRunIsThatOfOneThatNeverStopped) {
  const ToyRun toy("tensorboard-resume");
  const Config whole = watched(toy, "whole");
  Config parts = watched(toy, "parts");
  Recorder recorder;
  static_cast<void>(ToyRun::run(whole, recorder));
  parts.training.max_updates = 14;  // ends with an extra validation, which is taken back
  static_cast<void>(ToyRun::run(parts, recorder));
  parts.training.max_updates = 60;
  static_cast<void>(ToyRun::run(parts, recorder, RunMode::kResume, 40));
  // What a process wrote after its last checkpoint before it was killed.
  const std::string file = toy.path("parts/tensorboard/") + kEventFile + "2";
  const std::string stopped = read_file(file);
  std::ofstream(toy.path("parts/metrics.jsonl"), std::ios::app)
      << R"({"kind":"train","update":41,"loss":2.5})"
      << "\n{\"kind\":\"tra";
  std::ofstream(file, std::ios::app) << stopped.substr(stopped.size() / 2);
  static_cast<void>(ToyRun::run(parts, recorder, RunMode::kResume));
  EXPECT_EQ(curves_in(toy.path("parts/tensorboard"), false),
            curves_in(toy.path("whole/tensorboard"), false));
  EXPECT_EQ(curves_in(toy.path("parts/tensorboard")), curves_of(toy.path("parts/metrics.jsonl")));
  EXPECT_THAT(bytes_in(toy.path("parts/tensorboard")), StartsWith(stopped))
      << "with the times at which they were written";
}

TEST(TensorBoard, CanBeSwitchedWhenResumedAndIsRemovedByOverwrite) {
  const ToyRun toy("tensorboard-off");
  Config config = watched(toy, "run");
  const std::string folder = toy.path("run/tensorboard");
  config.training.tensorboard = false;
  config.training.max_updates = 3;
  Recorder recorder;
  static_cast<void>(ToyRun::run(config, recorder));
  EXPECT_FALSE(fs::exists(folder));
  config.training.tensorboard = true;
  config.training.max_updates = 5;
  static_cast<void>(ToyRun::run(config, recorder, RunMode::kResume));
  EXPECT_EQ(curves_in(folder), curves_of(toy.path("run/metrics.jsonl")));
  const std::string others = folder + "/events.out.tfevents.1.other";
  std::ofstream(others) << "mine";
  config.training.tensorboard = false;
  static_cast<void>(ToyRun::run(config, recorder, RunMode::kOverwrite));
  EXPECT_THAT(names_in(folder), ElementsAre("events.out.tfevents.1.other"));
  fs::remove(others);
  static_cast<void>(ToyRun::run(config, recorder, RunMode::kOverwrite));
  EXPECT_FALSE(fs::exists(folder));
}

TEST(TensorBoard, AFileInTheWayEndsTheRunAndIsLeftAlone) {
  const ToyRun toy("tensorboard-blocked");
  fs::create_directories(toy.path("run"));
  std::ofstream(toy.path("run/tensorboard")) << "mine";
  Recorder recorder;
  try {
    static_cast<void>(ToyRun::run(watched(toy, "run"), recorder));
    FAIL() << "nothing thrown";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("run/tensorboard: cannot be made: "));
  }
  EXPECT_THAT(names_in(toy.path("run")), ElementsAre("tensorboard"));
  EXPECT_EQ(read_file(toy.path("run/tensorboard")), "mine");
}

/// Lines as in metrics.jsonl and a folder for their events, without a run.
struct Lines {
  explicit Lines(const std::string& name) : toy("tensorboard-" + name, 1) {
    write_file_atomically(metrics,
                          "{\"kind\":\"probe\",\"update\":0,\"loss\":5.5,\"aer\":null}\n"
                          "{\"kind\":\"train\",\"update\":200,\"loss\":0.1,\"skipped\":3}\n"
                          "{\"kind\":\"validation\",\"update\":5000000000,\"bleu\":31.25}\n");
    curves = curves_of(metrics);
  }
  ToyRun toy;
  std::string metrics = toy.path("metrics.jsonl"), folder = toy.path("tensorboard");
  Curves curves;
};

TEST(TensorBoard, DamagedOrMissingFilesAreMended) {
  const Lines lines("damage");
  { const TensorBoardLog log(lines.folder, lines.metrics); }
  EXPECT_EQ(curves_in(lines.folder), lines.curves);
  const std::string good = bytes_in(lines.folder);
  const auto mended = [&](const std::string& content) {
    fs::remove_all(lines.folder);
    fs::create_directories(lines.folder);
    std::ofstream(lines.folder + "/" + kEventFile + "7") << content;
    { const TensorBoardLog log(lines.folder, lines.metrics); }
    return curves_in(lines.folder) == lines.curves;
  };
  for (std::size_t size = 0; size < good.size(); size += 3) {
    EXPECT_TRUE(mended(good.substr(0, size))) << "torn after " << size;
    std::string damaged = good;
    damaged[size] = static_cast<char>(damaged[size] ^ 4);
    EXPECT_TRUE(mended(damaged)) << "at " << size;
  }
  EXPECT_TRUE(mended(good + good));
  EXPECT_TRUE(mended(good + '\0'));
  EXPECT_TRUE(mended(std::string(1000, '\xff')));
  fs::remove_all(lines.folder);
  { const TensorBoardLog log(lines.folder, lines.metrics); }
  EXPECT_EQ(curves_in(lines.folder), lines.curves);
}

TEST(TensorBoard, AFileThatHasToBeCutGetsANewNameAndOneThatGrowsKeepsIt) {
  const Lines lines("names");
  const auto name = [](int number) { return kEventFile + std::to_string(number); };
  { const TensorBoardLog log(lines.folder, lines.metrics); }
  const std::string first = bytes_in(lines.folder);
  std::ofstream(lines.metrics, std::ios::app) << R"({"kind":"train","update":5000000001})"
                                              << "\n";
  { const TensorBoardLog log(lines.folder, lines.metrics); }
  EXPECT_THAT(names_in(lines.folder), ElementsAre(name(1)));
  EXPECT_THAT(bytes_in(lines.folder), StartsWith(first));
  EXPECT_EQ(curves_in(lines.folder), curves_of(lines.metrics));
  std::ofstream(lines.folder + "/" + name(9)) << first << "torn";
  { const TensorBoardLog log(lines.folder, lines.metrics); }
  EXPECT_THAT(names_in(lines.folder), ElementsAre(name(10)));
  EXPECT_EQ(curves_in(lines.folder), curves_of(lines.metrics));
}

TEST(TensorBoard, LinesThatAreNoneAndNumbersThatNoFloatHoldsAreLeftOut) {
  const Lines lines("none");
  write_file_atomically(lines.metrics,
                        "no json\n[5]\n{\"kind\":5,\"update\":1}\n{\"kind\":\"train\"}\n"
                        "{\"kind\":\"end\",\"update\":1,\"loss\":2}\n"
                        "{\"kind\":\"train\",\"update\":1,\"perplexity\":1e300,\"loss\":2}\n");
  TensorBoardLog log(lines.folder, lines.metrics);
  log.write({{"kind", "train"}, {"update", 2}, {"loss", nullptr}, {"guided", 0.5}});
  log.write({{"kind", "end"}, {"update", 2}});
  EXPECT_EQ(curves_in(lines.folder),
            (Curves{{1, {{"train/loss", 2}}}, {2, {{"train/guided", 0.5}}}}));
}

}  // namespace
}  // namespace verso
