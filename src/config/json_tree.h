#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// A JSON value that remembers the line it stands on, so that messages can name it. Keys keep their
/// order and may repeat; whoever reads the tree decides what that means.
struct JsonNode {
  enum class Kind { kNull, kFlag, kInteger, kReal, kText, kList, kObject };
  struct Key {
    std::string name;
    std::int64_t line = 0;
  };

  Kind kind = Kind::kNull;
  std::int64_t line = 0;  ///< from 1; 0: not from a file
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;        ///< of kInteger too
  std::string text;       ///< of kText the value, of numbers as written
  std::vector<Key> keys;  ///< of kObject, beside children
  std::vector<JsonNode> children;
};

/// Parses JSON with // and /* */ comments. A BOM and any line ends are fine; a comma after the last
/// value is not. Throws ConfigError ("where:line:column: ...") for anything else, for more than 1
/// MiB and for more than 32 levels.
[[nodiscard]] JsonNode parse_json(std::string_view text, const std::string& where);

/// What `node` is, for messages: `"five"`, `1.5`, `true`, `null`, `a list`, `an object`; long text
/// is cut.
[[nodiscard]] std::string describe(const JsonNode& node);

/// `text` quoted for messages and cut to a readable length.
[[nodiscard]] std::string quote_briefly(std::string_view text);

}  // namespace verso
