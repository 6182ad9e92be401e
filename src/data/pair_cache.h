#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "data/dataset.h"
#include "data/link_format.h"

/// The binary cache of training pairs, for its writer and its reader. One file, machine's own byte
/// order:
///
///   records   for each pair: source ids, target ids (int32 each); with text also the byte counts
///             of source and target text (uint32 each) and the bytes, filled up to 4 with zeros;
///             with links also their number and, where that is not 0, the word of each source and
///             each target id and the links (int32 each, source and target in turn)
///   index     for each pair a PairEntry
///   corpora   for each corpus the number of its pairs (int64)
///   footer    a PairFooter
namespace verso {

struct PairEntry {
  std::uint64_t offset;  ///< of the record, in units of 4 bytes
  std::uint32_t line;    ///< in the corpus' files, from 1
  std::uint16_t source_len, target_len;
};
static_assert(sizeof(PairEntry) == 16);

struct PairFooter {
  char magic[8];
  std::uint32_t version;
  std::uint16_t has_text, has_links;
  char digest[32];
  std::int64_t pairs, corpora, record_words;
  std::int64_t source_size, target_size;  ///< of the vocabularies: every id is smaller
  PairCounts counts;
  std::uint32_t body_checksum;    ///< CRC-32 of everything before the footer
  std::uint32_t footer_checksum;  ///< CRC-32 of the footer up to here
};
static_assert(sizeof(PairFooter) == 144);

/// Longest side of a pair and last line number that the format holds.
inline constexpr std::int64_t kLongestSide = 0xffff;
inline constexpr std::int64_t kLastLine = 0xffffffff;

/// A pair on its way into the cache.
struct CachedPair {
  std::int64_t corpus, line;
  const EncodedLine &source, &target;
  std::string_view source_text, target_text;
  const std::vector<Link>& links;
};

/// Streams pairs to a cache file; only the index entries stay in memory. The file appears at `path`
/// when finish() returns and not before.
class PairCacheWriter {
 public:
  PairCacheWriter(std::string path, std::int64_t corpora, bool with_text, bool with_links);

  /// Pairs must come corpus by corpus. REQUIRES sides of at most kLongestSide ids and a line of at
  /// most kLastLine. Texts and links are ignored without `with_text` and `with_links`.
  void add(const CachedPair& pair);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(index_.size()); }
  void finish(const std::string& digest, const PairCounts& counts,
              const VocabularyPair& vocabularies);

 private:
  void write(const void* data, std::size_t size);
  void write_text(const CachedPair& pair);
  void write_links(const CachedPair& pair);
  void flush();

  AtomicFile file_;
  std::string buffer_;
  std::deque<PairEntry> index_;
  std::vector<std::int64_t> pairs_of_corpus_;
  std::uint64_t words_ = 0;
  std::uint32_t checksum_ = 0;
  bool with_text_, with_links_;
};

/// Maps a cache file. Checks sizes, digest, checksums, and that every entry and id is in bounds;
/// throws DataError when anything is not as the writer leaves it.
[[nodiscard]] std::shared_ptr<const Dataset> map_pair_cache(const std::string& path,
                                                            const std::string& digest,
                                                            const Config& config,
                                                            const VocabularyPair& vocabularies);

}  // namespace verso
