#include "data/link_format.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr int kWeightDigits = 4;

/// Reads the whole of `text`, nothing before or after the number.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// False when `token` is not of the form index, mark, index, perhaps a weight.
bool read_link(std::string_view token, Link& link) {
  if (const auto colon = token.find(':'); colon != token.npos) {
    const std::string_view weight = token.substr(colon + 1);
    if (!read_number(weight, link.weight) || !std::isfinite(link.weight)) return false;
    token = token.substr(0, colon);
  }
  const auto mark = token.find_first_of("-p?");
  if (mark == token.npos || mark + 1 == token.size()) return false;
  link.sure = token[mark] == '-';
  // A sign is not a digit: "0--1" and "-1-0" are no links.
  return is_digit(token[0]) && is_digit(token[mark + 1]) &&
         read_number(token.substr(0, mark), link.source) &&
         read_number(token.substr(mark + 1), link.target);
}

void check_index(std::int32_t index, std::int64_t length, const char* side, const Link& link,
                 const std::string& place, std::int32_t first) {
  if (index >= 0 && index < length) return;
  const std::string found =
      cat(place, ": link ", static_cast<std::int64_t>(link.source) + first, "-",
          static_cast<std::int64_t>(link.target) + first, ", but the ", side, " line has ");
  if (length == 0) throw DataError(found + "no tokens: expected no link");
  throw DataError(cat(found, length, " tokens: expected a ", side, " index from ", first, " to ",
                      length - 1 + first));
}

std::string format_link(const Link& link, bool with_weights) {
  std::string out = cat(link.source, link.sure ? '-' : 'p', link.target);
  if (with_weights) {
    out += cat(':', fixed(static_cast<double>(link.weight), kWeightDigits));
  }
  return out;
}

}  // namespace

std::string format_links(const std::vector<Link>& links, bool with_weights) {
  std::string out;
  for (const Link& link : links) {
    if (!out.empty()) out += ' ';
    out += format_link(link, with_weights);
  }
  return out;
}

std::vector<Link> parse_links(std::string_view line, const std::string& place,
                              std::int32_t first_index) {
  std::vector<Link> links;
  for (const std::string_view token : split_tokens(line)) {
    Link link;
    if (!read_link(token, link)) {
      throw DataError(cat(place, ": \"", replace_invalid_utf8(token.substr(0, 40)),
                          "\" is not a link; expected source-target as in 0-0 (0p0 or 0?0 for a "
                          "possible one), perhaps with a weight as in 0-0:0.5"));
    }
    if (link.source < first_index || link.target < first_index) {
      throw DataError(cat(place, ": link \"", token, "\" has an index below ", first_index,
                          ", from which this file is said to count"));
    }
    link.source -= first_index;
    link.target -= first_index;
    links.push_back(link);
  }
  return links;
}

void check_links(const std::vector<Link>& links, std::int64_t source_len, std::int64_t target_len,
                 const std::string& place, std::int32_t first_index) {
  for (const Link& link : links) {
    check_index(link.source, source_len, "source", link, place, first_index);
    check_index(link.target, target_len, "target", link, place, first_index);
  }
}

}  // namespace verso
