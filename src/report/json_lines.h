#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace verso {

/// What was left out of a file of JSON Lines.
struct DamagedLines {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< number of the first one, from 1
};

/// Gives each line of `path` that is a JSON object to `take`. A line that is none, or for which
/// `take` throws nlohmann's exception or DataError, is counted and left out; blank lines are no
/// lines. A damaged last line without a line end is not counted: the run is writing it, or was
/// killed while it did. No such file: nothing. Throws DataError when the file cannot be read.
DamagedLines read_json_lines(const std::string& path,
                             const std::function<void(const nlohmann::json&)>& take);

/// A number or null, which is given as NaN. Throws nlohmann's type_error for anything else.
[[nodiscard]] double number_or_nan(const nlohmann::json& value);

/// object[key] as number_or_nan(), NaN too where there is no such key.
[[nodiscard]] double number_or_nan(const nlohmann::json& object, const char* key);

/// object[key], a whole number from 0. Throws DataError for anything else.
[[nodiscard]] std::int64_t whole_number(const nlohmann::json& object, const char* key);

}  // namespace verso
