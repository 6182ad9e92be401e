#pragma once

#include <string>

#include "report/run_record.h"

namespace verso {

/// The report of a run as one page of HTML that fetches nothing: summary, configuration, curves,
/// and for each probe pair its attention with a slider over the probed updates. Light and dark as
/// the reader's system; made for a phone as well. Summary and configuration are there without
/// JavaScript, the pictures are drawn by the page's script from page_data(). Well-formed as XML
/// too, whatever the run's words and texts hold.
[[nodiscard]] std::string report_page(const RunRecord& run);

/// The same pictures for pairs that were looked at once, without a run around them.
[[nodiscard]] std::string gradients_page(std::vector<ProbePair> pairs);

}  // namespace verso
