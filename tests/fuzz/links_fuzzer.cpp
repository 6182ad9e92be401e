// A line of links: an error, or links that are written and read back equal.
#include <algorithm>

#include "base/error.h"
#include "data/link_format.h"
#include "tests/fuzz/fuzzer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace verso;
  const std::string_view line = fuzz::text_of(data, size);
  for (const std::int32_t first : {0, 1}) {
    std::vector<Link> links;
    try {
      links = parse_links(line, "links.txt:1", first);
    } catch (const DataError&) {
      continue;
    }
    for (Link& link : links) {
      fuzz::check(link.source >= 0 && link.target >= 0);
      link.weight = 1;
      link.sure = true;  // written notations hold no possible links
    }
    fuzz::check(parse_links(format_links(links), "written:1") == links);
    try {
      check_links(links, 5, 7, "links.txt:1", first);
      for (const Link& link : links) fuzz::check(link.source < 5 && link.target < 7);
    } catch (const DataError&) {
    }
  }
  return 0;
}
