#include "align/links.h"

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace verso {
namespace {

Link link_at(const SoftAlignment& alignment, std::int64_t source, std::int64_t target) {
  return {static_cast<std::int32_t>(source), static_cast<std::int32_t>(target),
          alignment.at(target, source), true};
}

}  // namespace

std::vector<Link> extract_links(const SoftAlignment& alignment, LinkRule rule, float threshold) {
  check_alignment(alignment);
  const auto sources = static_cast<std::int64_t>(alignment.source.size());
  const auto targets = static_cast<std::int64_t>(alignment.target.size());
  std::vector<Link> links;
  if (sources == 0 || targets == 0) return links;
  if (rule == LinkRule::kPerTarget) {
    for (std::int64_t target = 0; target < targets; ++target) {
      std::int64_t best = 0;
      for (std::int64_t source = 1; source < sources; ++source) {
        if (alignment.at(target, source) > alignment.at(target, best)) best = source;
      }
      links.push_back(link_at(alignment, best, target));
    }
  } else if (rule == LinkRule::kPerSource) {
    for (std::int64_t source = 0; source < sources; ++source) {
      std::int64_t best = 0;
      for (std::int64_t target = 1; target < targets; ++target) {
        if (alignment.at(target, source) > alignment.at(best, source)) best = target;
      }
      links.push_back(link_at(alignment, source, best));
    }
  } else {
    for (std::int64_t source = 0; source < sources; ++source) {
      for (std::int64_t target = 0; target < targets; ++target) {
        if (alignment.at(target, source) >= threshold) {
          links.push_back(link_at(alignment, source, target));
        }
      }
    }
  }
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return std::tie(a.source, a.target) < std::tie(b.source, b.target);
  });
  return links;
}

std::string format_links_with_words(const std::vector<Link>& links, const SoftAlignment& alignment,
                                    bool with_weights) {
  std::string out;
  for (const Link& link : links) {
    if (!out.empty()) out += '\t';
    out += cat(format_links({link}, with_weights), ' ',
               alignment.source.at(static_cast<std::size_t>(link.source)), ' ',
               alignment.target.at(static_cast<std::size_t>(link.target)));
  }
  return out;
}

void add_links(AlignmentErrors& errors, const std::vector<Link>& links,
               const std::vector<Link>& gold) {
  std::vector<WordPair> scored, sure, possible;
  for (const Link& link : links) scored.emplace_back(link.source, link.target);
  for (const Link& link : gold) {
    (link.sure ? sure : possible).emplace_back(link.source, link.target);
  }
  errors.add(scored, sure, possible);
}

}  // namespace verso
