#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace verso {

/// Collects what is wrong, so that the user sees everything in one go.
class Problems {
 public:
  /// `line` 0: no line.
  void add(const std::string& where, std::int64_t line, const std::string& message);
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// True when messages are only counted any more: no need to spend time on them.
  [[nodiscard]] bool full() const noexcept { return messages_.size() == kMostMessages; }
  /// Throws ConfigError with all problems, one a line, in the order of their lines, unless there
  /// are none. After the first hundred only their number is given.
  void throw_if_any() const;

 private:
  static constexpr std::size_t kMostMessages = 100;

  std::vector<std::pair<std::int64_t, std::string>> messages_;  // with their lines
  std::size_t count_ = 0;
};

/// Completes a message about the unknown key `name` below `section` ("" is the top): the nearest
/// known key, be it beside it (`siblings`) or of the same name elsewhere, or else what is known
/// here.
[[nodiscard]] std::string unknown_key(const std::string& section, const std::string& name,
                                      const std::vector<std::string>& siblings);

/// `section`.`name`, or `name` at the top.
[[nodiscard]] std::string join_path(const std::string& section, const std::string& name);
/// `list`[`index`].
[[nodiscard]] std::string index_path(const std::string& list, std::size_t index);

}  // namespace verso
