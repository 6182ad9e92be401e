#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// Links between the words of a pair, and how they are written. A line of links is white-space
/// separated, source index first, one line a pair; the line of a pair without links is empty.
/// Indices count the white-space tokens (split_tokens, the same as awk's NF) of the lines as given.
///   0-0        a sure link          0-0:0.9312   with its weight
///   0p0, 0?0   possible ones, in gold standards
namespace verso {

struct Link {
  std::int32_t source = 0;
  std::int32_t target = 0;
  float weight = 1;
  bool sure = true;

  friend bool operator==(const Link&, const Link&) = default;
};

/// "0-0 1-2", or with weights "0-0:0.9312 1-2:0.5000". No line end.
[[nodiscard]] std::string format_links(const std::vector<Link>& links, bool with_weights = false);

/// Reads a line in any of the notations above, mixed or not; words do not belong into it. Indices
/// count from `first_index` (0 or 1) and are made 0-based. Throws DataError that begins with
/// `place`
/// ("links.txt:3") for anything else.
[[nodiscard]] std::vector<Link> parse_links(std::string_view line, const std::string& place,
                                            std::int32_t first_index = 0);

/// Throws DataError that begins with `place` for a link past the pair's lengths. `first_index` is
/// that of the file, so that the message shows the indices of the file.
void check_links(const std::vector<Link>& links, std::int64_t source_len, std::int64_t target_len,
                 const std::string& place, std::int32_t first_index = 0);

}  // namespace verso
