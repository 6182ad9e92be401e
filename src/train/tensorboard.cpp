#include "train/tensorboard.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::string_view kKinds[] = {"train", "validation", "probe"};
/// Numbers of a line that are no curves.
constexpr std::string_view kNotCurves[] = {
    "update", "seconds", "elapsed", "left", "left_to_validation", "best_update", "patience"};

/// Number of a protocol buffer's field and how it is coded, as one byte.
enum Key : char {
  kWallTime = 1 << 3 | 1,
  kStep = 2 << 3 | 0,
  kFileVersion = 3 << 3 | 2,
  kSummary = 5 << 3 | 2,
  kValue = 1 << 3 | 2,
  kTag = 1 << 3 | 2,
  kSimpleValue = 2 << 3 | 5,
};

constexpr std::size_t kBeforeData = 12, kAfterData = 4;
constexpr std::size_t kTimeSize = 1 + sizeof(double);

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xff);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7f; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string field(Key key, std::string_view content) {
  return std::string(1, key).append(varint(content.size())).append(content);
}

constexpr std::array<std::uint32_t, 256> kCrcTable = [] {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[byte] = crc;
  }
  return table;
}();

std::string check_of(std::string_view bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc = crc >> 8 ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  }
  return little_endian(std::rotr(~crc, 15) + 0xa282ead8U);
}

std::string record_of(const std::string& event) {
  const std::string size = little_endian(std::uint64_t{event.size()});
  return size + check_of(size) + event + check_of(event);
}

std::string time_now() {
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<char>(kWallTime) + little_endian(std::bit_cast<std::uint64_t>(now.count()));
}

template <std::size_t size>
bool contains(const std::string_view (&names)[size], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// The event of a line but for wall_time, its first field; "" when there is none for the line.
std::string event_of(const ordered_json& line) {
  if (!line.is_object() || !line.contains("kind") || !line.contains("update")) return "";
  const ordered_json &kind = line["kind"], &update = line["update"];
  if (!kind.is_string() || !update.is_number_integer()) return "";
  const auto& name = kind.get_ref<const std::string&>();
  if (!contains(kKinds, name)) return "";
  std::string summary;
  for (const auto& [key, number] : line.items()) {
    if (!number.is_number() || contains(kNotCurves, key)) continue;
    const auto value = number.get<float>();
    if (!std::isfinite(value)) continue;
    const std::string simple_value = little_endian(std::bit_cast<std::uint32_t>(value));
    summary += field(
        kValue, field(kTag, cat(name, "/", key)) + static_cast<char>(kSimpleValue) + simple_value);
  }
  return static_cast<char>(kStep) + varint(update.get<std::uint64_t>()) + field(kSummary, summary);
}

/// The events that a file is to hold, without wall_time.
std::vector<std::string> events_of(const std::string& metrics) {
  std::vector<std::string> events = {field(kFileVersion, "brain.Event:2")};
  if (!fs::exists(metrics)) return events;
  std::istringstream in(read_file(metrics));
  for (std::string line; std::getline(in, line);) {
    const std::string event = event_of(ordered_json::parse(line, nullptr, false));
    if (!event.empty()) events.push_back(event);
  }
  return events;
}

/// True when `content` goes on at `begin` with a whole record of `event`, of whatever time.
bool holds(std::string_view content, std::size_t begin, const std::string& event) {
  const std::string_view rest = content.substr(begin);
  if (rest.size() < kBeforeData + kTimeSize) return false;
  const std::string time(rest.substr(kBeforeData, kTimeSize));
  return time[0] == kWallTime && rest.starts_with(record_of(time + event));
}

/// By number.
std::map<std::uint64_t, fs::path> event_files(const std::string& folder) {
  std::map<std::uint64_t, fs::path> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kEventFile)) continue;
    std::uint32_t number = 0;
    const char* end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + std::strlen(kEventFile), end, number);
    if (read.ec == std::errc() && read.ptr == end) files[number] = entry.path();
  }
  return files;
}

/// "" also for what cannot be read: then it is replaced.
std::string content_of(const std::string& path) {
  try {
    return read_file(path);
  } catch (const DataError&) {
    return "";
  }
}

}  // namespace

TensorBoardLog::TensorBoardLog(const std::string& folder, const std::string& metrics) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw DataError(cat(folder, ": cannot be made: ", error.message()));
  const auto files = event_files(folder);
  std::uint64_t number = files.empty() ? 0 : files.rbegin()->first;
  const std::string old = files.empty() ? "" : content_of(files.rbegin()->second.string());
  std::size_t kept = 0;
  std::string missing;
  for (const std::string& event : events_of(metrics)) {
    if (missing.empty() && holds(old, kept, event)) {
      kept += kBeforeData + kTimeSize + event.size() + kAfterData;
    } else {
      missing += record_of(time_now() + event);
    }
  }
  const bool as_it_is = kept > 0 && kept == old.size();
  if (!as_it_is) ++number;
  const std::string path = cat(folder, "/", kEventFile, number);
  if (!as_it_is) write_file_atomically(path, old.substr(0, kept) + missing);
  file_.emplace(path);
  if (as_it_is) file_->append(missing);
  for (const auto& [other, earlier] : files) {
    if (other != number) fs::remove(earlier, error);
  }
}

void TensorBoardLog::write(const ordered_json& line) {
  const std::string event = event_of(line);
  if (!event.empty()) file_->append(record_of(time_now() + event));
}

}  // namespace verso
