#pragma once

#include <cstdint>
#include <string>

#include "search/translator.h"

namespace verso {

/// What `translate` prints.
struct OutputForm {
  bool nbest = false;      ///< a record for each hypothesis, with its number, else the best only
  bool alignment = false;  ///< links of words; in JSON the attention between words too
  bool json = false;
};

/// The records of line `id` (from 0), line ends included. `text` is the raw source line.
///   plain      TEXT                             n-best   ID ||| TEXT ||| SCORE
///   alignment  … ||| LINKS
///   JSON       one object a record, see json_record() in the source and --help
[[nodiscard]] std::string translation_records(const Translation& translation,
                                              const std::string& text, std::int64_t id,
                                              const VocabularyPair& vocabularies,
                                              const OutputForm& form);

}  // namespace verso
