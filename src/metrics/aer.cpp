#include "metrics/aer.h"

#include <set>

namespace verso {
namespace {

double quotient(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void AlignmentErrors::add(const std::vector<WordPair>& links, const std::vector<WordPair>& sure,
                          const std::vector<WordPair>& possible) {
  const std::set<WordPair> sure_set(sure.begin(), sure.end());
  std::set<WordPair> possible_set(possible.begin(), possible.end());
  possible_set.insert(sure.begin(), sure.end());
  const std::set<WordPair> scored(links.begin(), links.end());
  for (const WordPair& link : scored) {
    in_sure_ += sure_set.contains(link);
    in_possible_ += possible_set.contains(link);
  }
  links_ += static_cast<std::int64_t>(scored.size());
  sure_ += static_cast<std::int64_t>(sure_set.size());
  possible_ += static_cast<std::int64_t>(possible_set.size());
}

double AlignmentErrors::aer() const {
  return links_ + sure_ == 0 ? 0 : 1 - quotient(in_sure_ + in_possible_, links_ + sure_);
}
double AlignmentErrors::precision() const { return quotient(in_possible_, links_); }
double AlignmentErrors::recall() const { return quotient(in_sure_, sure_); }
double AlignmentErrors::f1() const {
  const double sum = precision() + recall();
  return sum == 0 ? 0 : 2 * precision() * recall() / sum;
}

}  // namespace verso
