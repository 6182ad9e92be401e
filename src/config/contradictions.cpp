#include <algorithm>

#include "base/text.h"
#include "config/config.h"
#include "config/problems.h"
#include "config/values.h"

namespace verso {
namespace {

bool names_no_file(const CorpusConfig& corpus) {
  return corpus.source.empty() && corpus.target.empty() && corpus.tsv.empty();
}

void check_corpus(const CorpusConfig& corpus, const std::string& path,
                  std::vector<std::string>& found) {
  const bool pair = !corpus.source.empty() || !corpus.target.empty();
  if (!corpus.tsv.empty() && pair) {
    found.push_back(cat(path, ": both tsv and ", corpus.source.empty() ? "target" : "source",
                        " are given; expected either tsv, or source and target"));
  } else if (pair && corpus.target.empty()) {
    found.push_back(cat(path, ": source is ", json_quote(corpus.source),
                        " but target is missing; give both, or tsv"));
  } else if (pair && corpus.source.empty()) {
    found.push_back(cat(path, ": target is ", json_quote(corpus.target),
                        " but source is missing; give both, or tsv"));
  }
  if (!corpus.links.empty() && names_no_file(corpus)) {
    found.push_back(cat(path, ": links is ", json_quote(corpus.links), " but there is no text"));
  }
  if (corpus.source == "-" || corpus.target == "-" || corpus.tsv == "-" || corpus.links == "-") {
    found.push_back(cat(path,
                        ": \"-\" (standard input) cannot be read more than once, which "
                        "training needs; give a file"));
  }
}

void check_data(const Config& config, std::vector<std::string>& found) {
  const std::vector<CorpusConfig>& train = config.data.train;
  if (train.empty()) {
    found.emplace_back(
        "data.train is empty; expected at least one corpus, as in "
        "{\"source\": \"train.de\", \"target\": \"train.en\"}");
  }
  for (std::size_t i = 0; i < train.size(); ++i) {
    const std::string path = index_path("data.train", i);
    check_corpus(train[i], path, found);
    if (names_no_file(train[i])) {
      found.push_back(cat(path, ": names no file; expected source and target, or tsv"));
    }
  }
  check_corpus(config.data.valid, "data.valid", found);
  check_corpus(config.data.probe, "data.probe", found);
}

void check_training(const Config& config, std::vector<std::string>& found) {
  const TrainingConfig& training = config.training;
  const bool validates = has_validation(config);
  if (training.schedule == Schedule::kInverseSqrt && training.warmup == 0) {
    found.emplace_back(
        "training.schedule is \"inverse_sqrt\" but training.warmup is 0; the rate "
        "falls with the square root of updates over warmup: set warmup, as in 4000");
  }
  if (training.schedule == Schedule::kPlateau &&
      training.min_learning_rate > training.learning_rate) {
    found.push_back(cat("training.min_learning_rate (", json_number(training.min_learning_rate),
                        ") is above training.learning_rate (", json_number(training.learning_rate),
                        ")"));
  }
  const bool stops_early = validates && config.validation.patience > 0;
  if (training.max_updates == 0 && training.max_epochs == 0 && !stops_early) {
    found.push_back(cat(
        "training would never end: training.max_updates and training.max_epochs are "
        "0 and ",
        validates ? "validation.patience is 0" : "there is no data.valid", "; set one of them"));
  }
  if (validates && config.validation.metric == Metric::kAer && config.data.valid.links.empty()) {
    found.emplace_back(
        "validation.metric is \"aer\" but data.valid.links is empty; name the gold links of "
        "data.valid, or choose another metric");
  }
  if (config.validation.every_updates > 0 && !validates) {
    found.push_back(cat("validation.every_updates is ", config.validation.every_updates,
                        " but there is no data.valid; name a validation corpus, or set it to 0"));
  }
}

}  // namespace

bool has_validation(const Config& config) { return !names_no_file(config.data.valid); }

const CorpusConfig* probe_corpus(const Config& config) {
  if (config.probe.pairs == 0) return nullptr;
  if (!names_no_file(config.data.probe)) return &config.data.probe;
  return has_validation(config) ? &config.data.valid : nullptr;
}

std::vector<std::string> find_contradictions(const Config& config) {
  std::vector<std::string> found;
  if (config.output.empty()) found.emplace_back("output is empty; expected the folder of the run");
  check_data(config, found);
  if (config.model.tie == Tie::kAll && !config.vocabulary.joint) {
    found.emplace_back(
        "model.tie is \"all\" but vocabulary.joint is false; source and target "
        "embeddings can only be one with a joint vocabulary");
  }
  check_training(config, found);
  return found;
}

std::vector<std::string> find_idle_keys(const Config& config) {
  std::vector<std::string> notes;
  if (!has_validation(config)) {
    notes.push_back(cat("there is no data.valid: no early stopping, best is the last checkpoint",
                        config.training.schedule == Schedule::kPlateau
                            ? ", and the plateau schedule keeps training.learning_rate as it is"
                            : ""));
  }
  const auto has_links = [](const CorpusConfig& corpus) { return !corpus.links.empty(); };
  const auto& train = config.data.train;
  if (std::any_of(train.begin(), train.end(), has_links) && config.training.guided.weight == 0) {
    notes.emplace_back("data.train has links but training.guided.weight is 0: they guide nothing");
  }
  if (!names_no_file(config.data.probe) && config.probe.pairs == 0) {
    notes.emplace_back("data.probe names pairs but probe.pairs is 0: none is looked at");
  }
  const VocabularyKind kind = config.vocabulary.kind;
  const bool pieces = kind == VocabularyKind::kBpe || kind == VocabularyKind::kUnigram;
  if (!pieces && config.vocabulary.sampling > 0) {
    notes.push_back(
        cat("vocabulary.sampling has no effect with vocabulary.kind ", value_text(kind)));
  }
  if (pieces && config.vocabulary.min_frequency > 1) {
    notes.push_back(
        cat("vocabulary.min_frequency has no effect with vocabulary.kind ", value_text(kind)));
  }
  return notes;
}

}  // namespace verso
