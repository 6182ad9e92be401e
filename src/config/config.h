#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.h"

/// The configuration, declared once: each struct holds its members with their defaults, and one row
/// of visit_fields() gives name, rule and help. Reader, --set, writer, difference on resume, JSON
/// Schema and the reference page all come from the rows (config/fields.h).
namespace verso {

enum class VocabularyKind { kWord, kChar, kBpe, kUnigram };
enum class InvalidUtf8 { kError, kReplace, kSkip };
enum class Device { kAuto, kCpu, kCuda };
enum class Kernels { kAuto, kGeneric, kFused, kCheck };
enum class DecoderKind { kRnnsearch, kConditional };
enum class DecoderStart { kBackward, kMean };
enum class Readout { kMaxout, kTanh };
enum class Tie { kNone, kTarget, kAll };
enum class GruVariant { kResetAfter, kResetBefore };
enum class Optimizer { kAdam, kAdamW, kAdadelta, kSgd };
enum class Schedule { kConstant, kInverseSqrt, kPlateau };
enum class Metric { kBleu, kChrf, kPerplexity, kAer, kEntropy, kCoverage };

template <>
inline constexpr EnumNames<VocabularyKind, 4> enum_names<VocabularyKind>{{
    {VocabularyKind::kWord, "word"},
    {VocabularyKind::kChar, "char"},
    {VocabularyKind::kBpe, "bpe"},
    {VocabularyKind::kUnigram, "unigram"},
}};
template <>
inline constexpr EnumNames<InvalidUtf8, 3> enum_names<InvalidUtf8>{{
    {InvalidUtf8::kError, "error"},
    {InvalidUtf8::kReplace, "replace"},
    {InvalidUtf8::kSkip, "skip"},
}};
template <>
inline constexpr EnumNames<Device, 3> enum_names<Device>{{
    {Device::kAuto, "auto"},
    {Device::kCpu, "cpu"},
    {Device::kCuda, "cuda"},
}};
template <>
inline constexpr EnumNames<Kernels, 4> enum_names<Kernels>{{
    {Kernels::kAuto, "auto"},
    {Kernels::kGeneric, "generic"},
    {Kernels::kFused, "fused"},
    {Kernels::kCheck, "check"},
}};
template <>
inline constexpr EnumNames<DecoderKind, 2> enum_names<DecoderKind>{{
    {DecoderKind::kRnnsearch, "rnnsearch"},
    {DecoderKind::kConditional, "conditional"},
}};
template <>
inline constexpr EnumNames<DecoderStart, 2> enum_names<DecoderStart>{{
    {DecoderStart::kBackward, "backward"},
    {DecoderStart::kMean, "mean"},
}};
template <>
inline constexpr EnumNames<Readout, 2> enum_names<Readout>{{
    {Readout::kMaxout, "maxout"},
    {Readout::kTanh, "tanh"},
}};
template <>
inline constexpr EnumNames<Tie, 3> enum_names<Tie>{{
    {Tie::kNone, "none"},
    {Tie::kTarget, "target"},
    {Tie::kAll, "all"},
}};
template <>
inline constexpr EnumNames<GruVariant, 2> enum_names<GruVariant>{{
    {GruVariant::kResetAfter, "reset_after"},
    {GruVariant::kResetBefore, "reset_before"},
}};
template <>
inline constexpr EnumNames<Optimizer, 4> enum_names<Optimizer>{{
    {Optimizer::kAdam, "adam"},
    {Optimizer::kAdamW, "adamw"},
    {Optimizer::kAdadelta, "adadelta"},
    {Optimizer::kSgd, "sgd"},
}};
template <>
inline constexpr EnumNames<Schedule, 3> enum_names<Schedule>{{
    {Schedule::kConstant, "constant"},
    {Schedule::kInverseSqrt, "inverse_sqrt"},
    {Schedule::kPlateau, "plateau"},
}};
template <>
inline constexpr EnumNames<Metric, 6> enum_names<Metric>{{
    {Metric::kBleu, "bleu"},
    {Metric::kChrf, "chrf"},
    {Metric::kPerplexity, "perplexity"},
    {Metric::kAer, "aer"},
    {Metric::kEntropy, "entropy"},
    {Metric::kCoverage, "coverage"},
}};

/// One parallel corpus: two line-parallel files, or one TSV (source TAB target). Files may be
/// plain, gzip or zstd, told by content.
struct CorpusConfig {
  std::string source;
  std::string target;
  std::string tsv;
  double weight = 1.0;
  std::string links = {};
  std::int64_t links_index = 0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&CorpusConfig::source, "source", any_text(), "file of source sentences, one a line");
    v(&CorpusConfig::target, "target", any_text(), "file of target sentences, line for line");
    v(&CorpusConfig::tsv, "tsv", any_text(), "instead of source and target: source TAB target");
    v(&CorpusConfig::weight, "weight", range(0.001, 1000.),
      "share in an epoch: 2 = each pair twice, 0.5 = half of the pairs, newly drawn each epoch");
    v(&CorpusConfig::links, "links", any_text(),
      "file of word links, a line a pair: 0-0 1-2 (1p2 or 1?2 are possible ones). In data.train "
      "they "
      "guide attention (training.guided); in data.valid they are the gold links of the metric aer");
    v(&CorpusConfig::links_index, "links_index", range(0, 1), "what links counts from");
  }
};

struct DataConfig {
  std::vector<CorpusConfig> train;
  CorpusConfig valid;
  CorpusConfig probe;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::kError;
  std::int64_t max_len = 100;
  double max_ratio = 9.0;
  std::string cache;

  template <class V>
  static void visit_fields(V&& v) {
    v(&DataConfig::train, "train", "parallel corpora to train on");
    v(&DataConfig::valid, "valid", "parallel corpus for validation; none: no validation");
    v(&DataConfig::probe, "probe",
      "pairs whose attention and gradients are looked at during training; none: those of valid");
    v(&DataConfig::invalid_utf8, "invalid_utf8", one_of(),
      "what a line that is not UTF-8 does: end with an error, have the bytes replaced by U+FFFD, "
      "or leave the pair out");
    v(&DataConfig::max_len, "max_len", range(1, 10000),
      "longest training sentence in vocabulary tokens; longer pairs are left out");
    v(&DataConfig::max_ratio, "max_ratio", range(1., 1000.),
      "longest side over shortest side in tokens; more extreme pairs are left out");
    v(&DataConfig::cache, "cache", any_text(),
      "folder for the binary cache; empty: the folder cache in the run folder");
  }
};

struct VocabularyConfig {
  VocabularyKind kind = VocabularyKind::kBpe;
  std::int64_t source_size = 8000;
  std::int64_t target_size = 8000;
  bool joint = false;
  std::int64_t min_frequency = 1;
  double character_coverage = 1.0;
  double sampling = 0.0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&VocabularyConfig::kind, "kind", one_of(),
      "word (white-space tokens), char, or SentencePiece trained on the training text");
    v(&VocabularyConfig::source_size, "source_size", range(8, 1000000),
      "most source entries, the four special ones included");
    v(&VocabularyConfig::target_size, "target_size", range(8, 1000000),
      "most target entries; with joint the larger of both counts");
    v(&VocabularyConfig::joint, "joint", flag(), "one vocabulary for both sides");
    v(&VocabularyConfig::min_frequency, "min_frequency", range(1, 1000000),
      "word and char: rarer entries become unknown");
    v(&VocabularyConfig::character_coverage, "character_coverage", range(0.9, 1.0),
      "bpe and unigram: share of characters that get pieces of their own");
    v(&VocabularyConfig::sampling, "sampling", range(0., 1.),
      "subword regularisation: BPE dropout probability, or the smoothing alpha of unigram "
      "sampling; "
      "0 = off");
  }
};

struct EncoderConfig {
  std::int64_t layers = 1;

  template <class V>
  static void visit_fields(V&& v) {
    v(&EncoderConfig::layers, "layers", range(1, 16),
      "bidirectional GRU layers, residual from the second");
  }
};

struct DecoderConfig {
  DecoderKind kind = DecoderKind::kConditional;
  DecoderStart start = DecoderStart::kBackward;
  Readout readout = Readout::kTanh;
  std::int64_t shift = 0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&DecoderConfig::kind, "kind", one_of(),
      "rnnsearch: attention asks with the state before the previous word (Bahdanau et al. 2015); "
      "conditional: a first GRU reads that word before attention asks (Nematus, Marian)");
    v(&DecoderConfig::start, "start", one_of(),
      "first decoder state from the backward encoder state at the first word (the paper) or from "
      "the mean of all encoder states");
    v(&DecoderConfig::readout, "readout", one_of(), "maxout of two (the paper) or tanh");
    v(&DecoderConfig::shift, "shift", range(0, 2),
      "from which step the links of a target word are read, guided and scored: 0 the one that "
      "makes "
      "it; so many later, those that have read it: the first is 1 in conditional order, 2 in "
      "rnnsearch order. Changes alignments only, not the model");
  }
};

struct DropoutConfig {
  double embed = 0.2;
  double encoder = 0.2;
  double state = 0.0;
  double readout = 0.2;
  double source_word = 0.0;
  double target_word = 0.0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&DropoutConfig::embed, "embed", range(0., 0.95), "on word embeddings");
    v(&DropoutConfig::encoder, "encoder", range(0., 0.95), "on encoder states");
    v(&DropoutConfig::state, "state", range(0., 0.95),
      "on what recurrent products read; one mask a sentence");
    v(&DropoutConfig::readout, "readout", range(0., 0.95),
      "on the readout before the output layer");
    v(&DropoutConfig::source_word, "source_word", range(0., 0.95),
      "probability that a source word's embedding is left out as a whole");
    v(&DropoutConfig::target_word, "target_word", range(0., 0.95),
      "the same for the previous target word");
  }
};

struct ModelConfig {
  std::int64_t embed = 256;
  std::int64_t hidden = 256;
  std::int64_t attention = 256;
  EncoderConfig encoder;
  DecoderConfig decoder;
  GruVariant gru = GruVariant::kResetAfter;
  Tie tie = Tie::kTarget;
  bool attend_end = true;
  bool layer_norm = false;
  DropoutConfig dropout;

  template <class V>
  static void visit_fields(V&& v) {
    v(&ModelConfig::embed, "embed", range(1, 8192), "word embedding size");
    v(&ModelConfig::hidden, "hidden", range(1, 8192), "GRU state size, per direction");
    v(&ModelConfig::attention, "attention", range(1, 8192), "size of the attention's hidden layer");
    v(&ModelConfig::encoder, "encoder", "encoder");
    v(&ModelConfig::decoder, "decoder", "decoder");
    v(&ModelConfig::gru, "gru", one_of(),
      "reset_after: PyTorch's and cuDNN's gates; reset_before: the paper's");
    v(&ModelConfig::tie, "tie", one_of(),
      "share the output matrix with the target embedding; all: with the source embedding too "
      "(needs vocabulary.joint)");
    v(&ModelConfig::attend_end, "attend_end", flag(),
      "the source end symbol is a position of attention, as in the paper");
    v(&ModelConfig::layer_norm, "layer_norm", flag(), "layer normalisation in the GRUs");
    v(&ModelConfig::dropout, "dropout", "probabilities of dropout in training");
  }
};

struct GuidedConfig {
  double weight = 1.0;
  std::int64_t half_life = 0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&GuidedConfig::weight, "weight", range(0., 1000.),
      "of the cross-entropy of attention to data.train's links in the loss");
    v(&GuidedConfig::half_life, "half_life", range(0, 1000000000),
      "updates after which weight has fallen to half, and so on; 0 = it stays");
  }
};

struct TrainingConfig {
  std::int64_t batch_tokens = 1000;
  std::int64_t sort_window = 1000;
  std::int64_t max_updates = 0;
  std::int64_t max_epochs = 20;
  Optimizer optimizer = Optimizer::kAdam;
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;
  double clip_norm = 1.0;
  Schedule schedule = Schedule::kPlateau;
  std::int64_t warmup = 0;
  double decay_factor = 0.5;
  std::int64_t decay_patience = 1;
  double min_learning_rate = 1e-6;
  double label_smoothing = 0.1;
  GuidedConfig guided;
  std::int64_t max_nonfinite = 10;
  std::int64_t log_every = 50;
  bool tensorboard = true;

  template <class V>
  static void visit_fields(V&& v) {
    v(&TrainingConfig::batch_tokens, "batch_tokens", range(1, 1000000),
      "target tokens in a batch, padding included");
    v(&TrainingConfig::sort_window, "sort_window", range(1, 100000),
      "batches drawn at a time and sorted by length, so that little is padding");
    v(&TrainingConfig::max_updates, "max_updates", range(0, 1000000000), "0 = no limit");
    v(&TrainingConfig::max_epochs, "max_epochs", range(0, 1000000), "0 = no limit");
    v(&TrainingConfig::optimizer, "optimizer", one_of(), "how gradients change parameters");
    v(&TrainingConfig::learning_rate, "learning_rate", range(0., 1e38),
      "at the start, after warmup");
    v(&TrainingConfig::beta1, "beta1", range(0., 0.999999),
      "Adam: decay of the mean of gradients; sgd: momentum is 0");
    v(&TrainingConfig::beta2, "beta2", range(0., 0.999999),
      "Adam: decay of the mean of squares; adadelta: rho");
    v(&TrainingConfig::epsilon, "epsilon", range(1e-30, 1.), "added to the denominator");
    v(&TrainingConfig::weight_decay, "weight_decay", range(0., 1.),
      "adamw: decoupled; others: added to the gradient");
    v(&TrainingConfig::clip_norm, "clip_norm", range(0., 1e9),
      "largest norm of the whole gradient; 0 = no clipping");
    v(&TrainingConfig::schedule, "schedule", one_of(),
      "constant; inverse_sqrt of the update after warmup; plateau: times decay_factor when "
      "validation does not gain");
    v(&TrainingConfig::warmup, "warmup", range(0, 100000000),
      "updates over which the rate rises from 0");
    v(&TrainingConfig::decay_factor, "decay_factor", range(0.01, 1.), "plateau: the factor");
    v(&TrainingConfig::decay_patience, "decay_patience", range(1, 1000000),
      "plateau: validations without gain before the rate falls");
    v(&TrainingConfig::min_learning_rate, "min_learning_rate", range(0., 1.),
      "plateau: the rate never falls below");
    v(&TrainingConfig::label_smoothing, "label_smoothing", range(0., 0.9),
      "share of probability spread over the vocabulary");
    v(&TrainingConfig::guided, "guided", "guided alignment: attention taught by given links");
    v(&TrainingConfig::max_nonfinite, "max_nonfinite", range(1, 1000000),
      "updates in a row with a non-finite loss or gradient (each is left out) that end the run");
    v(&TrainingConfig::log_every, "log_every", range(1, 1000000), "updates between progress lines");
    v(&TrainingConfig::tensorboard, "tensorboard", flag(),
      "write the run's curves for TensorBoard too, into its folder tensorboard");
  }
};

struct ValidationConfig {
  std::int64_t every_updates = 0;
  Metric metric = Metric::kBleu;
  std::int64_t patience = 5;
  std::int64_t beam = 1;
  double length_penalty = 1.0;
  std::int64_t samples = 3;

  template <class V>
  static void visit_fields(V&& v) {
    v(&ValidationConfig::every_updates, "every_updates", range(0, 1000000000),
      "updates between validations; 0 = at the end of each epoch");
    v(&ValidationConfig::metric, "metric", one_of(),
      "decides which checkpoint is best, early stopping and plateau; aer needs data.valid.links");
    v(&ValidationConfig::patience, "patience", range(0, 1000000),
      "validations without gain that end training; 0 = never");
    v(&ValidationConfig::beam, "beam", range(1, 1000), "beam size of decoded scores");
    v(&ValidationConfig::length_penalty, "length_penalty", range(0., 10.),
      "as in translate, for decoded scores");
    v(&ValidationConfig::samples, "samples", range(0, 1000), "translations shown in the log");
  }
};

struct CheckpointConfig {
  std::int64_t every_updates = 0;
  double every_minutes = 10.0;
  std::int64_t keep = 0;

  template <class V>
  static void visit_fields(V&& v) {
    v(&CheckpointConfig::every_updates, "every_updates", range(0, 1000000000),
      "updates between saves of last; 0 = by time and at validations only");
    v(&CheckpointConfig::every_minutes, "every_minutes", range(0., 100000.),
      "minutes between saves of last; 0 = by updates and at validations only");
    v(&CheckpointConfig::keep, "keep", range(0, 1000000),
      "how many older checkpoints (update-N.safetensors, one a validation) stay beside last and "
      "best");
  }
};

struct ProbeConfig {
  std::int64_t pairs = 4;
  std::int64_t every_updates = 1000;
  std::int64_t per_decade = 8;

  template <class V>
  static void visit_fields(V&& v) {
    v(&ProbeConfig::pairs, "pairs", range(0, 1000),
      "how many pairs of data.probe (else of data.valid), from the first on that has text on both "
      "sides and at most 60 tokens on each; 0 = no probe");
    v(&ProbeConfig::every_updates, "every_updates", range(0, 1000000000),
      "updates between looks; 0 = at those of per_decade only");
    v(&ProbeConfig::per_decade, "per_decade", range(0, 1000),
      "looks while updates grow tenfold, up to every_updates, since attention changes most at the "
      "start: with 8 after 1, 2, 3, 4, 6, 7, 10, 13 … updates; 0 = none");
  }
};

struct Config {
  std::string output;
  std::int64_t seed = -1;
  Device device = Device::kAuto;
  std::int64_t threads = 0;
  Kernels kernels = Kernels::kAuto;
  DataConfig data;
  VocabularyConfig vocabulary;
  ModelConfig model;
  TrainingConfig training;
  ValidationConfig validation;
  CheckpointConfig checkpoint;
  ProbeConfig probe;

  template <class V>
  static void visit_fields(V&& v) {
    v(&Config::output, "output", any_text(), "run folder");
    v(&Config::seed, "seed", range(-1, 9007199254740991),
      "of every random choice; -1: drawn, and written to the log");
    v(&Config::device, "device", one_of(), "where to compute");
    v(&Config::threads, "threads", range(0, 1024), "CPU threads; 0 = physical cores");
    v(&Config::kernels, "kernels", one_of(),
      "which implementation of the model runs: fused: hand-written CPU kernels; generic: "
      "LibTorch's operations, on every device; auto: fused where it can; check: both, with their "
      "largest differences logged");
    v(&Config::data, "data", "text to train on");
    v(&Config::vocabulary, "vocabulary", "how text becomes ids");
    v(&Config::model, "model", "architecture");
    v(&Config::training, "training", "optimisation");
    v(&Config::validation, "validation", "scores during training");
    v(&Config::checkpoint, "checkpoint", "saves");
    v(&Config::probe, "probe", "pairs on which attention is watched while it learns");
  }
};

/// Problems that no single key can show: contradictions between keys, missing data or output.
/// Returns one message each, naming the keys; empty when `config` can be trained.
[[nodiscard]] std::vector<std::string> find_contradictions(const Config& config);

/// What is allowed but does nothing in this combination, one note each; for the log and config
/// check.
[[nodiscard]] std::vector<std::string> find_idle_keys(const Config& config);

/// True when data.valid names a corpus.
[[nodiscard]] bool has_validation(const Config& config);

/// The corpus that probed pairs are taken from: data.probe, else data.valid; nullptr when there is
/// neither or probe.pairs is 0.
[[nodiscard]] const CorpusConfig* probe_corpus(const Config& config);

}  // namespace verso
