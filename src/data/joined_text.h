#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace verso {

/// One line of text put together from the texts of ids, with the white-space token each id became
/// part of; what decode() and words_of() of every vocabulary share, so that they cannot disagree.
struct JoinedText {
  std::string text;                   ///< tokens separated by one space each
  std::vector<std::int32_t> word_of;  ///< [ids], -1 for an id without content
};

/// `part(id)` gives the text of an id; white space in it separates tokens. An id whose text is only
/// white space begins the next token and counts to it, or is -1 when none follows; an empty text
/// (a special id) is -1.
template <class Part>
[[nodiscard]] JoinedText join_text(std::span<const std::int32_t> ids, const Part& part);

/// Throws ShapeError when `id` is not in [0, size): a mistake of the caller.
void check_id(std::int32_t id, std::int64_t size);

/// Implementation of join_text.
class TextJoiner {
 public:
  void add(std::string_view part);
  [[nodiscard]] JoinedText take();

 private:
  JoinedText joined_;
  std::int32_t word_ = -1;
  bool separated_ = false;
  std::vector<std::size_t> waiting_;  // separators whose token has not begun yet
};

template <class Part>
JoinedText join_text(std::span<const std::int32_t> ids, const Part& part) {
  TextJoiner joiner;
  for (const std::int32_t id : ids) joiner.add(part(id));
  return joiner.take();
}

}  // namespace verso
