#include "config/json_tree.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace verso {
namespace {

using nlohmann::json;

constexpr std::size_t kLargestText = std::size_t{1} << 20;
constexpr std::size_t kDeepest = 32;
constexpr std::size_t kLongestQuote = 60;

/// An input iterator that reports how far the parser has read.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(const char* at, std::size_t* consumed) : at_(at), consumed_(consumed) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    ++at_;
    ++*consumed_;
    return *this;
  }
  TrackedIterator operator++(int) {
    TrackedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TrackedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* consumed_;
};

/// Builds the tree from the parser's events.
class TreeBuilder : public json::json_sax_t {
 public:
  TreeBuilder(std::string_view text, const std::string& where, const std::size_t& consumed)
      : text_(text), where_(where), consumed_(consumed) {}

  JsonNode take_root() { return std::move(root_); }

  bool null() override {
    add(JsonNode::Kind::kNull);
    return true;
  }
  bool boolean(bool value) override {
    add(JsonNode::Kind::kFlag).flag = value;
    return true;
  }
  bool number_integer(json::number_integer_t value) override {
    JsonNode& node = add(JsonNode::Kind::kInteger);
    node.integer = value;
    node.real = static_cast<double>(value);
    node.text = std::to_string(value);
    return true;
  }
  bool number_unsigned(json::number_unsigned_t value) override {
    if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return number_integer(static_cast<std::int64_t>(value));
    }
    return number_float(static_cast<double>(value), std::to_string(value));
  }
  bool number_float(json::number_float_t value, const std::string& written) override {
    JsonNode& node = add(JsonNode::Kind::kReal);
    node.real = value;
    node.text = written;
    return true;
  }
  bool string(std::string& value) override {
    add(JsonNode::Kind::kText).text = std::move(value);
    return true;
  }
  bool binary(json::binary_t& /*value*/) override { return true; }  // not in JSON text
  bool key(std::string& name) override {
    open_.back()->keys.push_back({std::move(name), line()});
    return true;
  }
  bool start_object(std::size_t /*size*/) override { return open(JsonNode::Kind::kObject); }
  bool start_array(std::size_t /*size*/) override { return open(JsonNode::Kind::kList); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const json::exception& problem) override {
    std::string_view reason = problem.what();
    // "[json.exception.name.id] parse error at line 1, column 2: syntax error ...": the place is
    // ours to say, the rest is what the user wants to know.
    if (const auto id = reason.find("] "); id != reason.npos) reason.remove_prefix(id + 2);
    if (reason.starts_with("parse error at line ")) {
      if (const auto colon = reason.find(": "); colon != reason.npos) {
        reason.remove_prefix(colon + 2);
      }
    }
    fail(explain(reason));
    return false;
  }

 private:
  /// A node in its place in the tree.
  JsonNode& add(JsonNode::Kind kind) {
    JsonNode node;
    node.kind = kind;
    node.line = line();
    if (open_.empty()) return root_ = std::move(node);
    return open_.back()->children.emplace_back(std::move(node));
  }

  // Pointers to open nodes stay valid: only the children of the innermost one grow.
  bool open(JsonNode::Kind kind) {
    if (open_.size() == kDeepest) fail(cat("more than ", kDeepest, " levels of nesting"));
    JsonNode& node = add(kind);
    open_.push_back(&node);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Line of the character read last, from 1. The parser has read the token that an event is about,
  /// and at most one character more (after a number).
  std::int64_t line() {
    const std::size_t last = consumed_ == 0 ? 0 : consumed_ - 1;
    lines_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(counted_),
                         text_.begin() + static_cast<std::ptrdiff_t>(last), '\n');
    counted_ = last;
    return lines_;
  }

  [[noreturn]] void fail(const std::string& reason) {
    const std::size_t last = consumed_ == 0 ? 0 : consumed_ - 1;
    const std::size_t line_end = last == 0 ? text_.npos : text_.rfind('\n', last - 1);
    const std::size_t line_start = line_end == text_.npos ? 0 : line_end + 1;
    throw ConfigError(cat(where_, ":", line(), ":", last - line_start + 1, ": ", reason));
  }

  std::string explain(std::string_view reason) const {
    if (std::all_of(text_.begin(), text_.end(), is_ascii_space)) {
      return "it is empty; expected a JSON object, at least {}";
    }
    const char last = consumed_ > 0 ? text_[consumed_ - 1] : '\0';
    if (last == '}' || last == ']') {
      std::size_t before = consumed_ - 1;
      while (before > 0 && is_ascii_space(text_[before - 1])) --before;
      if (before > 0 && text_[before - 1] == ',') {
        return cat("not valid JSON: a comma before ", last, " is not allowed; remove it");
      }
    }
    std::string clean = replace_invalid_utf8(reason);
    constexpr std::size_t kHalf = 120;
    if (clean.size() > 2 * kHalf) {  // the parser quotes the whole of a long token
      clean.replace(kHalf, clean.size() - 2 * kHalf, " ... ");
      clean = replace_invalid_utf8(clean);
    }
    return cat("not valid JSON: ", clean);
  }

  std::string_view text_;
  const std::string& where_;
  const std::size_t& consumed_;
  std::size_t counted_ = 0;
  std::int64_t lines_ = 1;
  JsonNode root_;
  std::vector<JsonNode*> open_;
};

}  // namespace

JsonNode parse_json(std::string_view text, const std::string& where) {
  if (text.size() > kLargestText) {
    throw ConfigError(cat(where, ": ", text.size(), " bytes, expected at most ", kLargestText,
                          "; this does not look like a configuration"));
  }
  std::size_t consumed = 0;
  TreeBuilder builder(text, where, consumed);
  json::sax_parse(TrackedIterator(text.data(), &consumed),
                  TrackedIterator(text.data() + text.size(), &consumed), &builder,
                  json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true);
  return builder.take_root();
}

std::string quote_briefly(std::string_view text) {
  if (text.size() <= kLongestQuote) return json_quote(text);
  std::size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return json_quote(text.substr(0, end)) + "...";
}

std::string describe(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return "null";
    case JsonNode::Kind::kFlag:
      return node.flag ? "true" : "false";
    case JsonNode::Kind::kInteger:
    case JsonNode::Kind::kReal:
      return node.text.size() <= kLongestQuote ? node.text
                                               : node.text.substr(0, kLongestQuote) + "...";
    case JsonNode::Kind::kText:
      return quote_briefly(node.text);
    case JsonNode::Kind::kList:
      return "a list";
    case JsonNode::Kind::kObject:
      return "an object";
  }
  return {};
}

}  // namespace verso
