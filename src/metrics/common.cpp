#include "metrics/common.h"

#include "base/error.h"
#include "base/text.h"

namespace verso {

void check_references(std::size_t hypotheses,
                      const std::vector<std::vector<std::string>>& references) {
  if (references.empty()) throw DataError("no references: a score needs one set or more");
  for (std::size_t set = 0; set < references.size(); ++set) {
    if (references[set].size() == hypotheses) continue;
    throw DataError(cat("reference set ", set + 1, " has ", references[set].size(),
                        " lines, but there are ", hypotheses,
                        " hypotheses: expected one reference a hypothesis"));
  }
}

}  // namespace verso
