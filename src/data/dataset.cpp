#include "data/dataset.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "data/corpus.h"
#include "data/digest.h"
#include "data/pair_cache.h"

namespace verso {
namespace {

/// The pairs of all corpora of data.train, one after the other, with data.invalid_utf8 applied.
class TrainingPairs {
 public:
  explicit TrainingPairs(const DataConfig& data) : data_(data) {
    for (const CorpusConfig& corpus : data_.train) {
      for (const std::string& path : {corpus.source, corpus.target, corpus.tsv, corpus.links}) {
        if (!path.empty()) require_regular_file(path);
      }
    }
  }

  bool next(std::string& source, std::string& target) {
    while (corpus_ < static_cast<std::int64_t>(data_.train.size())) {
      const CorpusConfig& corpus = data_.train[static_cast<std::size_t>(corpus_)];
      if (!reader_) reader_.emplace(corpus);
      while (reader_->next(source, target)) {
        ++read_;
        if (reader_->check_utf8(source, target, data_.invalid_utf8)) return true;
        ++invalid_;
      }
      if (reader_->line_number() == 0) {
        throw DataError(cat(files_of(corpus), " hold no line, expected pairs to train on"));
      }
      reader_.reset();
      ++corpus_;
    }
    return false;
  }

  [[nodiscard]] std::int64_t corpus() const { return corpus_; }
  [[nodiscard]] std::int64_t line() const { return reader_->line_number(); }
  [[nodiscard]] std::string place() const { return reader_->source_place(); }
  /// The links of the pair that next() gave last.
  [[nodiscard]] std::vector<Link> links(std::string_view source, std::string_view target) const {
    return reader_->links(source, target);
  }
  [[nodiscard]] std::int64_t read() const { return read_; }
  [[nodiscard]] std::int64_t invalid() const { return invalid_; }

 private:
  const DataConfig& data_;
  std::optional<PairReader> reader_;
  std::int64_t corpus_ = 0, read_ = 0, invalid_ = 0;
};

std::string digest_of(const Config& config, const VocabularyPair& vocabularies) {
  Digest digest;
  digest.add_field("verso pairs 1");
  for (const auto& vocabulary : {vocabularies.source, vocabularies.target}) {
    digest.add_field(enum_name(vocabulary->kind()));
    digest.add_field(vocabulary->bytes());
  }
  digest.add_field(enum_name(config.data.invalid_utf8));
  digest.add_field(cat(config.data.max_len));
  digest.add_field(fixed(config.data.max_ratio, 9));
  for (const CorpusConfig& corpus : config.data.train) {
    digest.add_field(corpus.tsv.empty() ? "source and target" : "tsv");
    for (const std::string& path : {corpus.source, corpus.target, corpus.tsv}) {
      if (!path.empty()) digest.add_file(path);
    }
    if (!corpus.links.empty()) {
      digest.add_field(cat("links from ", corpus.links_index));
      digest.add_file(corpus.links);
    }
  }
  return digest.hex();
}

/// Counts the pair where it belongs; true when it is used.
bool count_pair(const DataConfig& data, std::int64_t source_len, std::int64_t target_len,
                PairCounts& counts) {
  const auto [shortest, longest] = std::minmax(source_len, target_len);
  if (shortest == 0) {
    ++counts.empty;
  } else if (longest > data.max_len) {
    ++counts.too_long;
  } else if (static_cast<double>(longest) > data.max_ratio * static_cast<double>(shortest)) {
    ++counts.ratio;
  } else {
    ++counts.used;
    return true;
  }
  return false;
}

[[noreturn]] void fail_without_pairs(const DataConfig& data, const PairCounts& counts) {
  std::string message = cat(
      "0 of ", counts.read, " training pairs can be used: ", counts.empty, " have an empty side, ",
      counts.too_long, " are longer than data.max_len (", data.max_len, "), ", counts.ratio,
      " exceed data.max_ratio (", data.max_ratio, "), ", counts.invalid_utf8, " are not UTF-8");
  if (counts.too_long > 0) message += "; raise data.max_len";
  if (counts.ratio > 0) message += "; raise data.max_ratio";
  if (counts.invalid_utf8 > 0) message += "; set data.invalid_utf8 to \"replace\"";
  throw DataError(message);
}

bool has_links(const DataConfig& data) {
  return std::any_of(data.train.begin(), data.train.end(),
                     [](const CorpusConfig& corpus) { return !corpus.links.empty(); });
}

void build_cache(const Config& config, const VocabularyPair& vocabularies, const std::string& path,
                 const std::string& digest) {
  const DataConfig& data = config.data;
  if (data.max_len > kLongestSide) {
    throw DataError(cat("data.max_len is ", data.max_len, ", expected at most ", kLongestSide));
  }
  PairCacheWriter writer(path, static_cast<std::int64_t>(data.train.size()),
                         config.vocabulary.sampling > 0, has_links(data));
  TrainingPairs pairs(data);
  PairCounts counts;
  std::string source, target;
  while (pairs.next(source, target)) {
    if (pairs.line() > kLastLine) {
      throw DataError(cat(pairs.place(), ": more lines than a corpus may have (", kLastLine, ")"));
    }
    const EncodedLine source_ids = vocabularies.source->encode(source);
    const EncodedLine target_ids = vocabularies.target->encode(target);
    const std::vector<Link> links = pairs.links(source, target);
    if (count_pair(data, std::ssize(source_ids.ids), std::ssize(target_ids.ids), counts)) {
      writer.add({pairs.corpus(), pairs.line(), source_ids, target_ids, source, target, links});
    }
  }
  counts.read = pairs.read();
  counts.invalid_utf8 = pairs.invalid();
  if (counts.used == 0) fail_without_pairs(data, counts);
  writer.finish(digest, counts, vocabularies);
}

void log_counts(const PairCounts& counts, const DataConfig& data) {
  std::string message = cat("training data: ", counts.used, " of ", counts.read, " pairs are used");
  if (counts.used < counts.read) {
    message +=
        cat("; left out: ", counts.empty, " with an empty side, ", counts.too_long,
            " longer than data.max_len (", data.max_len, "), ", counts.ratio,
            " over data.max_ratio (", data.max_ratio, "), ", counts.invalid_utf8, " not UTF-8");
  }
  log::info(message);
}

}  // namespace

VocabularyPair train_vocabularies(const Config& config) {
  const VocabularyConfig& settings = config.vocabulary;
  const auto train = [&](std::int64_t size, bool use_source, bool use_target) {
    TrainingPairs pairs(config.data);
    std::string source, target;
    bool target_waits = false;
    return train_vocabulary(settings, size, [&](std::string& line) {
      if (target_waits) {
        target_waits = false;
        line.swap(target);
        return true;
      }
      if (!pairs.next(source, target)) return false;
      target_waits = use_source && use_target;
      line.swap(use_source ? source : target);
      return true;
    });
  };
  if (settings.joint) {
    const auto both = train(std::max(settings.source_size, settings.target_size), true, true);
    return {both, both};
  }
  return {train(settings.source_size, true, false), train(settings.target_size, false, true)};
}

std::shared_ptr<const Dataset> build_dataset(const Config& config,
                                             const VocabularyPair& vocabularies,
                                             const std::string& cache_folder) {
  const std::string digest = digest_of(config, vocabularies);
  // The text that sampling needs does not change which pairs there are, only what the file holds.
  const std::string path =
      cat(cache_folder, "/pairs-", digest, config.vocabulary.sampling > 0 ? "-text" : "", ".bin");
  std::shared_ptr<const Dataset> dataset;
  if (std::filesystem::exists(path)) {
    try {
      dataset = map_pair_cache(path, digest, config, vocabularies);
      log::debug(cat("training data is in the cache: ", path));
    } catch (const DataError& error) {
      log::warning(cat(error.what(), "; the cache is made again"));
    }
  }
  if (!dataset) {
    std::error_code failure;
    std::filesystem::create_directories(cache_folder, failure);
    if (failure) {
      throw DataError(cat(cache_folder, ": the cache folder cannot be made: ", failure.message()));
    }
    build_cache(config, vocabularies, path, digest);
    dataset = map_pair_cache(path, digest, config, vocabularies);
  }
  log_counts(dataset->counts(), config.data);
  return dataset;
}

}  // namespace verso
