#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "data/corpus.h"
#include "model/translation_model.h"
#include "train/gradient_record.h"

/// A few pairs that are looked at again and again during training, to see how attention learns.
namespace verso {

/// One look at all pairs.
struct ProbeScores {
  std::int64_t update = 0;
  double epoch = 0;
  double loss = 0;     ///< - log p per target token, nats
  double entropy = 0;  ///< of alpha, mean over target tokens, nats
  /// Means over the pairs of |dL/dv|, |dL/dW| and |dL/dU|, L being a pair's whole - log p.
  double energy_gradient = 0, query_gradient = 0, key_gradient = 0;
  PathShares shares{};        ///< of each path in dL/dh of all pairs
  std::optional<double> aer;  ///< of forced links, read with the model's shift, with gold links
};

/// True for update 0, for each multiple of every_updates, and for those nearest to
/// 10^(i / per_decade), i = 0, 1, …, that come before every_updates.
[[nodiscard]] bool probe_due(const ProbeConfig& config, std::int64_t update);

/// probe.jsonl of a run: for each look and pair a line
///   {"update":20,"pair":0,<fields of json_fields()>,"links":"0-0 1p1"}
/// with the words of the pair as tokens, "links" where there are gold links.
class Probe {
 public:
  /// Takes the pairs of `corpus`. Throws DataError; also when it has no pair that can be looked at
  /// and is data.probe.
  Probe(const Config& config, const CorpusConfig& corpus, const VocabularyPair& vocabularies);

  /// From now on `path` is written to. Drops from it what a run that goes on from `update` will
  /// write again, and looks at other pairs than these.
  void open(const std::string& path, std::int64_t update);

  /// Looks at all pairs and appends to the file. REQUIRES open(). Leaves model and generators as
  /// they were.
  [[nodiscard]] ProbeScores look(TranslationModel& model, std::int64_t update, double epoch);

  /// What was written survives a loss of power: before a checkpoint that counts on it.
  void sync() { file_->sync(); }

 private:
  struct Pair {
    EncodedLine source, target;
    std::vector<std::string> source_words, target_words;
  };
  [[nodiscard]] bool still_holds(const std::string& line, std::int64_t update) const;

  ParallelText text_;
  std::vector<Pair> pairs_;
  std::optional<AppendFile> file_;
};

}  // namespace verso
