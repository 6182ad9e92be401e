#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"
#include "data/vocabulary.h"

namespace verso {

/// How many pairs a corpus had and why some were left out of training.
struct PairCounts {
  std::int64_t read = 0;
  std::int64_t used = 0;
  std::int64_t empty = 0;         ///< a side without tokens
  std::int64_t too_long = 0;      ///< data.max_len
  std::int64_t ratio = 0;         ///< data.max_ratio
  std::int64_t invalid_utf8 = 0;  ///< data.invalid_utf8 = "skip"
};

/// A link of words of a pair, by white-space token.
struct WordLink {
  std::int32_t source, target;
};
static_assert(sizeof(WordLink) == 8);

/// The links of a pair that guide attention, and the word that each piece is part of; all empty for
/// a pair without links.
struct PairLinks {
  std::span<const std::int32_t> source_words, target_words;  ///< [source_len], [target_len]
  std::span<const WordLink> links;
};

/// Training pairs as ids in memory-mapped flat arrays: a pair costs its ids (32 bit) and one index
/// entry. With vocabulary.sampling > 0 the text itself is kept too, and sampled_* encode anew.
class Dataset {
 public:
  virtual ~Dataset() = default;
  [[nodiscard]] virtual std::int64_t size() const = 0;
  /// [source_len] and [target_len], without begin and end symbols.
  [[nodiscard]] virtual std::span<const std::int32_t> source(std::int64_t pair) const = 0;
  [[nodiscard]] virtual std::span<const std::int32_t> target(std::int64_t pair) const = 0;
  /// Line of the pair in its files, from 1, and which of data.train it comes from.
  [[nodiscard]] virtual std::int64_t line(std::int64_t pair) const = 0;
  [[nodiscard]] virtual std::int64_t corpus(std::int64_t pair) const = 0;
  /// From data.train[].links. The words are those of source() and target(), not of sampled_*.
  [[nodiscard]] virtual PairLinks links(std::int64_t pair) const = 0;
  /// True when some corpus has links.
  [[nodiscard]] virtual bool has_links() const = 0;
  [[nodiscard]] virtual const PairCounts& counts() const = 0;
  /// Digest (hex) of text, vocabularies and the keys that decide which pairs are used: equal
  /// digests mean equal data. Stored in `last` so that a changed corpus is noticed on resume.
  [[nodiscard]] virtual const std::string& digest() const = 0;
  /// The pair's text encoded anew with subword regularisation (perhaps longer than data.max_len).
  /// Throws DataError when the dataset was made with vocabulary.sampling = 0.
  [[nodiscard]] virtual EncodedLine sampled_source(std::int64_t pair, Random& random) const = 0;
  [[nodiscard]] virtual EncodedLine sampled_target(std::int64_t pair, Random& random) const = 0;
};

/// The vocabularies of a run: trained from the text of data.train.
struct VocabularyPair {
  std::shared_ptr<const Vocabulary> source, target;  ///< the same object when joint
};
[[nodiscard]] VocabularyPair train_vocabularies(const Config& config);

/// Reads data.train, filters, encodes and writes the cache below `cache_folder` (keyed by content:
/// a second call with the same text, links, vocabularies and keys maps the files that are there).
/// The cache is written under a temporary name and renamed; a damaged one is made again with a
/// warning. Throws DataError when no pair can be used, with the counts by reason and the keys to
/// change, and when a corpus is empty, its sides and links differ in length, or a line of links is
/// malformed or has an index past its pair (file:line). Files must be regular files: they are read
/// more than once.
[[nodiscard]] std::shared_ptr<const Dataset> build_dataset(const Config& config,
                                                           const VocabularyPair& vocabularies,
                                                           const std::string& cache_folder);

}  // namespace verso
