#include "report/json_lines.h"

#include <fstream>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "data/corpus.h"

namespace verso {

namespace {

using nlohmann::json;

bool ends_in_line_feed(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || in.tellg() == std::streampos(0)) return true;
  in.seekg(-1, std::ios::end);
  return in.get() == '\n';
}

bool take_line(const std::string& line, const std::function<void(const json&)>& take) {
  const json record = json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return false;
  try {
    take(record);
    return true;
  } catch (const json::exception&) {
    return false;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace

DamagedLines read_json_lines(const std::string& path,
                             const std::function<void(const json&)>& take) {
  DamagedLines damaged;
  if (!file_exists(path)) return damaged;
  LineReader reader(path);
  bool last_is_damaged = false;
  for (std::string line; reader.next(line);) {
    last_is_damaged = !split_tokens(line).empty() && !take_line(line, take);
    if (!last_is_damaged) continue;
    if (damaged.count == 0) damaged.first = reader.line_number();
    ++damaged.count;
  }
  if (last_is_damaged && !ends_in_line_feed(path)) --damaged.count;
  return damaged;
}

double number_or_nan(const json& value) {
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

double number_or_nan(const json& object, const char* key) {
  const auto found = object.find(key);
  return number_or_nan(found == object.end() ? json(nullptr) : *found);
}

std::int64_t whole_number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) {
    throw DataError(cat("\"", key, "\" is no whole number"));
  }
  const auto value = found->get<std::int64_t>();
  if (value < 0) throw DataError(cat("\"", key, "\" is below 0 or too large"));
  return value;
}

}  // namespace verso
