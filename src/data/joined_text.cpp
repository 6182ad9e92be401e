#include "data/joined_text.h"

#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace verso {

void TextJoiner::add(std::string_view part) {
  const std::size_t index = joined_.word_of.size();
  joined_.word_of.push_back(-1);
  for (const char c : part) {
    if (is_ascii_space(c)) {
      separated_ = true;
      continue;
    }
    if (joined_.text.empty()) {
      word_ = 0;
    } else if (separated_) {
      joined_.text += ' ';
      ++word_;
    }
    separated_ = false;
    joined_.text += c;
    if (joined_.word_of[index] < 0) joined_.word_of[index] = word_;
    for (const std::size_t separator : waiting_) joined_.word_of[separator] = word_;
    waiting_.clear();
  }
  if (!part.empty() && joined_.word_of[index] < 0) waiting_.push_back(index);
}

JoinedText TextJoiner::take() { return std::move(joined_); }

void check_id(std::int32_t id, std::int64_t size) {
  if (id < 0 || id >= size) {
    throw ShapeError(cat("id ", id, " is outside of the vocabulary of ", size, " entries"));
  }
}

}  // namespace verso
