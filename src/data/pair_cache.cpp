#include "data/pair_cache.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace verso {
namespace {

constexpr char kMagic[8] = {'v', 'e', 'r', 's', 'o', 'p', 'r', 's'};
constexpr std::uint32_t kVersion = 2;
constexpr std::size_t kBuffer = 1 << 22;

std::uint32_t extend_checksum(std::uint32_t checksum, const void* data, std::size_t size) {
  return static_cast<std::uint32_t>(::crc32_z(checksum, static_cast<const Bytef*>(data), size));
}

std::uint32_t footer_checksum(const PairFooter& footer) {
  return extend_checksum(0, &footer, offsetof(PairFooter, footer_checksum));
}

std::size_t words_for(std::size_t bytes) { return (bytes + 3) / 4; }

class MappedDataset final : public Dataset {
 public:
  MappedDataset(const std::string& path, const std::string& digest, const Config& config,
                VocabularyPair vocabularies)
      : file_(path),
        path_(path),
        digest_(digest),
        vocabularies_(std::move(vocabularies)),
        sampling_(config.vocabulary.sampling) {
    read_footer();
    check_body();
  }

  [[nodiscard]] std::int64_t size() const override { return footer_.pairs; }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t pair) const override {
    const PairEntry& entry = entry_of(pair);
    return {records_ + entry.offset, entry.source_len};
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t pair) const override {
    const PairEntry& entry = entry_of(pair);
    return {records_ + entry.offset + entry.source_len, entry.target_len};
  }
  [[nodiscard]] std::int64_t line(std::int64_t pair) const override { return entry_of(pair).line; }
  [[nodiscard]] std::int64_t corpus(std::int64_t pair) const override {
    const auto after = std::upper_bound(corpus_ends_.begin(), corpus_ends_.end(), pair);
    return after - corpus_ends_.begin();
  }
  [[nodiscard]] PairLinks links(std::int64_t pair) const override {
    if (!has_links()) return {};
    const PairEntry& entry = entry_of(pair);
    const std::int32_t* record = records_ + links_offset(entry);
    const auto count = static_cast<std::size_t>(*record++);
    if (count == 0) return {};
    const std::int32_t* const target_words = record + entry.source_len;
    const auto* links = reinterpret_cast<const WordLink*>(target_words + entry.target_len);
    return {{record, entry.source_len}, {target_words, entry.target_len}, {links, count}};
  }
  [[nodiscard]] bool has_links() const override { return footer_.has_links != 0; }
  [[nodiscard]] const PairCounts& counts() const override { return footer_.counts; }
  [[nodiscard]] const std::string& digest() const override { return digest_; }
  [[nodiscard]] EncodedLine sampled_source(std::int64_t pair, Random& random) const override {
    return vocabularies_.source->encode_sampled(text(pair, 0), sampling_, random);
  }
  [[nodiscard]] EncodedLine sampled_target(std::int64_t pair, Random& random) const override {
    return vocabularies_.target->encode_sampled(text(pair, 1), sampling_, random);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw DataError(cat(path_, ": ", what)); }

  [[nodiscard]] const PairEntry& entry_of(std::int64_t pair) const { return index_[pair]; }

  // Where the number of links stands in records_, behind ids and text.
  [[nodiscard]] std::uint64_t links_offset(const PairEntry& entry) const {
    const std::uint64_t offset = entry.offset + entry.source_len + entry.target_len;
    if (footer_.has_text == 0) return offset;
    const auto bytes = std::size_t{static_cast<std::uint32_t>(records_[offset])} +
                       static_cast<std::uint32_t>(records_[offset + 1]);
    return offset + 2 + words_for(bytes);
  }

  // Side 0 is the source, side 1 the target.
  [[nodiscard]] std::string_view text(std::int64_t pair, int side) const {
    if (footer_.has_text == 0) fail("holds no text, it was made with vocabulary.sampling = 0");
    const PairEntry& entry = entry_of(pair);
    const std::int32_t* sizes = records_ + entry.offset + entry.source_len + entry.target_len;
    const auto first = static_cast<std::uint32_t>(sizes[0]);
    const auto* bytes = reinterpret_cast<const char*>(sizes + 2);
    if (side == 0) return {bytes, first};
    return {bytes + first, static_cast<std::uint32_t>(sizes[1])};
  }

  void read_footer() {
    const auto bytes = file_.bytes();
    if (bytes.size() < sizeof(PairFooter)) fail("is too short for a cache");
    std::memcpy(&footer_, bytes.data() + bytes.size() - sizeof(PairFooter), sizeof(PairFooter));
    if (std::memcmp(footer_.magic, kMagic, sizeof kMagic) != 0) fail("is not a cache of pairs");
    if (footer_.version != kVersion) fail(cat("is of format version ", footer_.version));
    if (footer_.footer_checksum != footer_checksum(footer_)) fail("has a damaged footer");
    if (digest_ != std::string_view(footer_.digest, sizeof footer_.digest)) {
      fail("is of other data");
    }
    const auto most = static_cast<std::int64_t>(bytes.size());
    if (footer_.pairs < 1 || footer_.pairs > most || footer_.corpora < 1 ||
        footer_.corpora > most || footer_.record_words < 0 || footer_.record_words > most ||
        bytes.size() != index_offset() + index_bytes() + corpora_bytes() + sizeof(PairFooter)) {
      fail("has sizes that do not fit the file");
    }
    records_ = reinterpret_cast<const std::int32_t*>(bytes.data());
    index_ = reinterpret_cast<const PairEntry*>(bytes.data() + index_offset());
    corpus_ends_.resize(static_cast<std::size_t>(footer_.corpora));
    std::memcpy(corpus_ends_.data(), bytes.data() + index_offset() + index_bytes(),
                corpora_bytes());
    for (std::size_t i = 1; i < corpus_ends_.size(); ++i) corpus_ends_[i] += corpus_ends_[i - 1];
  }

  // Records are filled up to 8 bytes, so that the index is aligned.
  [[nodiscard]] std::size_t index_offset() const {
    return static_cast<std::size_t>(footer_.record_words) * 4;
  }
  [[nodiscard]] std::size_t index_bytes() const {
    return static_cast<std::size_t>(footer_.pairs) * sizeof(PairEntry);
  }
  [[nodiscard]] std::size_t corpora_bytes() const {
    return static_cast<std::size_t>(footer_.corpora) * sizeof(std::int64_t);
  }

  void check_body() const {
    const auto bytes = file_.bytes();
    if (footer_.body_checksum !=
        extend_checksum(0, bytes.data(), bytes.size() - sizeof(PairFooter))) {
      fail("is damaged, its checksum differs");
    }
    if (footer_.source_size != vocabularies_.source->size() ||
        footer_.target_size != vocabularies_.target->size() ||
        corpus_ends_.back() != footer_.pairs) {
      fail("contradicts itself");
    }
    std::uint64_t expected = 0;
    for (std::int64_t pair = 0; pair < footer_.pairs; ++pair) {
      const PairEntry& entry = entry_of(pair);
      const auto all = static_cast<std::uint64_t>(footer_.record_words);
      const std::uint64_t ids = std::uint64_t{entry.source_len} + entry.target_len;
      if (entry.offset != expected || ids + std::uint64_t{2} * footer_.has_text > all - expected) {
        fail(cat("has a wrong index entry ", pair));
      }
      expected += ids;
      if (footer_.has_text != 0) {
        const auto size = static_cast<std::uint32_t>(records_[expected]);
        const auto target_size = static_cast<std::uint32_t>(records_[expected + 1]);
        expected += 2 + words_for(std::size_t{size} + target_size);
        if (expected > all) fail(cat("has a wrong text size at entry ", pair));
      }
      if (footer_.has_links != 0) {
        if (expected >= all) fail(cat("has no links at entry ", pair));
        const std::int32_t count = records_[expected++];
        if (count < 0) fail(cat("has ", count, " links at entry ", pair));
        if (count > 0) expected += ids + 2 * static_cast<std::uint64_t>(count);
        if (expected > all) fail(cat("has a wrong number of links at entry ", pair));
      }
      check_ids(source(pair), footer_.source_size);
      check_ids(target(pair), footer_.target_size);
    }
  }

  void check_ids(std::span<const std::int32_t> ids, std::int64_t size) const {
    for (const std::int32_t id : ids) {
      if (id < 0 || id >= size) fail(cat("has the id ", id, " for a vocabulary of ", size));
    }
  }

  MappedFile file_;
  std::string path_, digest_;
  VocabularyPair vocabularies_;
  double sampling_;
  PairFooter footer_{};
  const std::int32_t* records_ = nullptr;
  const PairEntry* index_ = nullptr;
  std::vector<std::int64_t> corpus_ends_;
};

}  // namespace

PairCacheWriter::PairCacheWriter(std::string path, std::int64_t corpora, bool with_text,
                                 bool with_links)
    : file_(std::move(path)),
      pairs_of_corpus_(static_cast<std::size_t>(corpora)),
      with_text_(with_text),
      with_links_(with_links) {
  buffer_.reserve(kBuffer);
}

void PairCacheWriter::write(const void* data, std::size_t size) {
  buffer_.append(static_cast<const char*>(data), size);
  if (buffer_.size() >= kBuffer) flush();
}

void PairCacheWriter::flush() {
  checksum_ = extend_checksum(checksum_, buffer_.data(), buffer_.size());
  file_.write(buffer_);
  buffer_.clear();
}

void PairCacheWriter::write_text(const CachedPair& pair) {
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(pair.source_text.size()),
                                  static_cast<std::uint32_t>(pair.target_text.size())};
  const std::size_t bytes = pair.source_text.size() + pair.target_text.size();
  write(sizes, sizeof sizes);
  write(pair.source_text.data(), pair.source_text.size());
  write(pair.target_text.data(), pair.target_text.size());
  write("\0\0\0", words_for(bytes) * 4 - bytes);
  words_ += 2 + words_for(bytes);
}

void PairCacheWriter::write_links(const CachedPair& pair) {
  const auto count = static_cast<std::int32_t>(pair.links.size());
  write(&count, sizeof count);
  words_ += 1;
  if (count == 0) return;
  for (const EncodedLine* side : {&pair.source, &pair.target}) {
    write(side->word_of.data(), side->word_of.size() * sizeof(std::int32_t));
    words_ += side->word_of.size();
  }
  for (const Link& link : pair.links) {
    const WordLink pure{link.source, link.target};
    write(&pure, sizeof pure);
    words_ += 2;
  }
}

void PairCacheWriter::add(const CachedPair& pair) {
  const std::span<const std::int32_t> source = pair.source.ids, target = pair.target.ids;
  index_.push_back({words_, static_cast<std::uint32_t>(pair.line),
                    static_cast<std::uint16_t>(source.size()),
                    static_cast<std::uint16_t>(target.size())});
  ++pairs_of_corpus_[static_cast<std::size_t>(pair.corpus)];
  write(source.data(), source.size_bytes());
  write(target.data(), target.size_bytes());
  words_ += source.size() + target.size();
  if (with_text_) write_text(pair);
  if (with_links_) write_links(pair);
}

void PairCacheWriter::finish(const std::string& digest, const PairCounts& counts,
                             const VocabularyPair& vocabularies) {
  if (words_ % 2 != 0) {
    write("\0\0\0", 4);
    ++words_;
  }
  for (const PairEntry& entry : index_) write(&entry, sizeof entry);
  write(pairs_of_corpus_.data(), pairs_of_corpus_.size() * sizeof(std::int64_t));
  flush();

  PairFooter footer{};
  std::memcpy(footer.magic, kMagic, sizeof kMagic);
  footer.version = kVersion;
  footer.has_text = with_text_ ? 1 : 0;
  footer.has_links = with_links_ ? 1 : 0;
  std::memcpy(footer.digest, digest.data(), std::min(digest.size(), sizeof footer.digest));
  footer.pairs = size();
  footer.corpora = static_cast<std::int64_t>(pairs_of_corpus_.size());
  footer.record_words = static_cast<std::int64_t>(words_);
  footer.source_size = vocabularies.source->size();
  footer.target_size = vocabularies.target->size();
  footer.counts = counts;
  footer.body_checksum = checksum_;
  footer.footer_checksum = footer_checksum(footer);
  file_.write(&footer, sizeof footer);
  file_.commit();
}

std::shared_ptr<const Dataset> map_pair_cache(const std::string& path, const std::string& digest,
                                              const Config& config,
                                              const VocabularyPair& vocabularies) {
  return std::make_shared<MappedDataset>(path, digest, config, vocabularies);
}

}  // namespace verso
