#include "train/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
#include <random>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "config/write.h"
#include "data/batcher.h"
#include "nn/blas.h"
#include "nn/buffer_cache.h"
#include "nn/runtime.h"
#include "train/guided_alignment.h"
#include "train/kernel_check.h"
#include "train/optimizer.h"
#include "train/probe.h"
#include "train/resume.h"
#include "train/schedule.h"
#include "train/validation.h"

namespace verso {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Sums since the last progress line.
struct Window {
  double objective = 0, nll = 0, norm = 0, seconds = 0, guided = 0;
  int64_t tokens = 0, updates = 0, guided_tokens = 0;
};

/// An update whose loss is this many times ln(vocabulary), the loss of guessing, is as lost as one
/// that is not finite.
constexpr double kHopelessLoss = 50.0;

constexpr const char* kMetricsFile = "metrics.jsonl";
constexpr const char* kProbeFile = "probe.jsonl";

/// Batches that a device had no room for until the run ends with advice: a few are left out.
constexpr int64_t kMostTooLarge = 5;

class Trainer {
 public:
  Trainer(Config config, const TrainOptions& options, Reporter& reporter,
          const std::atomic<int>& stop);
  TrainResult run();

 private:
  void begin_fresh();
  void begin_resumed(const TrainOptions& options);
  [[nodiscard]] std::unique_ptr<ParameterUpdater> make_updater() const;
  void update_once();
  void forward_backward(const std::vector<int64_t>& pairs, Window& step);
  void differentiate(const SourceBatch& source, const TargetBatch& target,
                     const std::vector<PairLinks>& links, Window& step);
  void skip_for_memory(const std::vector<int64_t>& pairs);
  void skip_update(double loss, double norm);
  void open_metrics();
  void make_probe();
  void look_at_probe();
  void validate(bool due = true);
  void judge(Validation& validation);
  void save(const std::string& path, const CheckpointInfo& info, const TrainingState* state);
  void save_last();
  void report_progress();
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] std::string end_reason() const;
  [[nodiscard]] double epoch() const;
  [[nodiscard]] int64_t updates_to_validation() const;
  [[nodiscard]] TrainingState state() const;
  void set_state(const TrainingState& state, bool same_data);
  TrainResult finish(const std::string& reason);

  Config config_;
  Reporter& reporter_;
  const std::atomic<int>& stop_;
  RunFolder folder_;
  torch::Device device_;
  TranslationModel model_;
  std::shared_ptr<const Dataset> dataset_;
  std::unique_ptr<Batcher> batcher_;
  std::unique_ptr<Validator> validator_;
  std::unique_ptr<ParameterUpdater> updater_;
  std::unique_ptr<LearningRate> rate_;
  std::unique_ptr<KernelCheck> check_;  ///< with kernels: check
  std::unique_ptr<MetricsLog> metrics_;
  std::unique_ptr<Probe> probe_;  ///< with pairs to look at
  BestScores best_;
  Window window_, whole_;  ///< since the last line; since this process began
  int64_t update_ = 0, skipped_ = 0, skipped_in_row_ = 0, validated_ = -1, saved_ = -1;
  int64_t too_large_ = 0;  ///< batches that did not fit into memory, in this process
  bool epoch_ended_ = false, validation_due_ = false;
  double elapsed_before_ = 0;  ///< seconds of the run in earlier processes
  Clock::time_point began_ = Clock::now(), saved_at_ = Clock::now();
};

Trainer::Trainer(Config config, const TrainOptions& options, Reporter& reporter,
                 const std::atomic<int>& stop)
    : config_(std::move(config)),
      reporter_(reporter),
      stop_(stop),
      folder_(config_.output, options.mode),
      device_(choose_device(config_.device)),
      best_(config_.validation.metric) {
  log::to_file(folder_.file("train.log"));
  const int64_t threads = set_threads(config_.threads);
  log::info(cat("device ", device_name(device_), ", ", threads,
                threads == 1 ? " thread" : " threads", ", LibTorch ", TORCH_VERSION));
  for (const std::string& problem : speed_problems()) log::warning("slow: " + problem);
  if (options.mode == RunMode::kResume) {
    begin_resumed(options);
  } else {
    begin_fresh();
  }
  const bool fused = model_.network->fused();
  use_buffer_cache(fused);
  const bool checked = config_.kernels == Kernels::kCheck;
  if (checked && !fused) {
    throw ConfigError(
        "kernels = \"check\" compares with the fused kernels, which run on a CPU, in float, with "
        "model.gru = \"reset_after\"; expected \"auto\" or \"generic\" here");
  }
  if (checked) check_ = std::make_unique<KernelCheck>();
  log::info(cat("kernels: ", fused ? "fused" : "generic", checked ? " checked by generic" : ""));
  write_file_atomically(folder_.file("config.json"), write_config(config_));
  log::info(cat("model: ", model_.network->parameter_count(), " parameters, vocabularies ",
                model_.vocabularies.source->size(), " and ", model_.vocabularies.target->size()));
  if (saved_ != update_) {
    look_at_probe();
    save_last();
  }
}

void Trainer::begin_fresh() {
  if (config_.seed < 0) {
    std::random_device device;
    config_.seed = static_cast<int64_t>((std::uint64_t{device()} << 21 ^ device()) >> 1 &
                                        ((std::uint64_t{1} << 53) - 1));
  }
  log::info(cat("seed ", config_.seed));
  seed_generators(static_cast<std::uint64_t>(config_.seed));
  for (const std::string& note : find_idle_keys(config_)) log::info(note);
  model_.config = config_;
  model_.vocabularies = train_vocabularies(config_);
  if (has_validation(config_)) {
    validator_ = std::make_unique<Validator>(config_, model_.vocabularies);
  }
  const std::string cache = config_.data.cache.empty() ? folder_.file("cache") : config_.data.cache;
  dataset_ = build_dataset(config_, model_.vocabularies, cache);
  model_.network = Seq2Seq(model_spec(config_, model_.vocabularies));
  model_.network->to(device_);
  updater_ = make_updater();
  rate_ = std::make_unique<LearningRate>(config_.training);
  batcher_ = std::make_unique<Batcher>(dataset_, config_, static_cast<std::uint64_t>(config_.seed));
  make_probe();
  folder_.forget_previous();
  folder_.keep_cache(dataset_->digest());
  open_metrics();
  if (probe_ != nullptr) probe_->open(folder_.file(kProbeFile), update_);
}

void Trainer::begin_resumed(const TrainOptions& options) {
  Checkpoint last = load_checkpoint(folder_.last(), device_);
  config_ = resumed_config(config_, last, {options.reset_optimizer, options.new_data});
  model_ = std::move(last.model);
  model_.config = config_;
  if (has_validation(config_)) {
    validator_ = std::make_unique<Validator>(config_, model_.vocabularies);
  }
  const std::string cache = config_.data.cache.empty() ? folder_.file("cache") : config_.data.cache;
  dataset_ = build_dataset(config_, model_.vocabularies, cache);
  const bool same_data = check_same_data(last, *dataset_, options.new_data);
  if (!same_data) log::warning("the training data is not what this run began with");
  folder_.keep_cache(dataset_->digest());
  updater_ = make_updater();
  rate_ = std::make_unique<LearningRate>(config_.training);
  batcher_ = std::make_unique<Batcher>(dataset_, config_, static_cast<std::uint64_t>(config_.seed));
  set_state(last.state, same_data);
  if (options.reset_optimizer) {
    updater_ = make_updater();
    rate_ = std::make_unique<LearningRate>(config_.training);
    best_ = BestScores(config_.validation.metric);
    log::info("optimiser, learning rate and best scores are reset; parameters and position stay");
  }
  MetricsLog::rewind(folder_.file(kMetricsFile), update_, validation_due_);
  open_metrics();
  make_probe();
  if (probe_ != nullptr) probe_->open(folder_.file(kProbeFile), update_);
  saved_ = update_;
  log::info(cat("resumed at update ", update_, ", epoch ", fixed(epoch(), 3)));
}

std::unique_ptr<ParameterUpdater> Trainer::make_updater() const {
  return std::make_unique<ParameterUpdater>(*model_.network, config_.training,
                                            model_.network->fused());
}

void Trainer::open_metrics() {
  std::optional<std::string> events;
  if (config_.training.tensorboard) events = folder_.events();
  metrics_ = std::make_unique<MetricsLog>(folder_.file(kMetricsFile), events);
}

void Trainer::make_probe() {
  const CorpusConfig* corpus = probe_corpus(config_);
  if (corpus != nullptr) {
    probe_ = std::make_unique<Probe>(config_, *corpus, model_.vocabularies);
  }
}

void Trainer::look_at_probe() {
  if (probe_ == nullptr || !probe_due(config_.probe, update_)) return;
  metrics_->write(probe_->look(model_, update_, epoch()));
}

TrainResult Trainer::run() {
  model_.network->train();
  std::string reason = end_reason();
  while (reason.empty()) {
    if (validation_due_) validate();
    if (stop_ != 0) break;
    reason = end_reason();
    if (!reason.empty()) break;
    update_once();
    look_at_probe();
    if (update_ % config_.training.log_every == 0) report_progress();
    reporter_.tick(progress());
    validation_due_ = validator_ != nullptr && updates_to_validation() == 0;
    const CheckpointConfig& saves = config_.checkpoint;
    const bool by_count = saves.every_updates > 0 && update_ % saves.every_updates == 0;
    const bool by_time =
        saves.every_minutes > 0 && seconds_since(saved_at_) >= 60 * saves.every_minutes;
    if ((by_count || by_time) && !validation_due_) save_last();
    if (stop_ != 0) break;
    if (validation_due_) validate();
    if (stop_ == 0) reason = end_reason();
  }
  if (stop_ == 0 && validator_ != nullptr && validated_ != update_) validate(false);
  if (stop_ != 0) return finish(stop_ == SIGINT ? "interrupted (SIGINT)" : "terminated (SIGTERM)");
  return finish(reason);
}

void Trainer::update_once() {
  const auto start = Clock::now();
  const std::vector<int64_t> pairs = batcher_->next();
  epoch_ended_ = batcher_->epoch_finished();
  Window step;
  updater_->zero_grad();
  try {
    forward_backward(pairs, step);
  } catch (const std::exception& error) {
    if (!is_out_of_memory(error)) throw;
    skip_for_memory(pairs);
    return;
  }
  ++update_;
  const double loss = step.objective / static_cast<double>(step.tokens);
  const double hopeless =
      kHopelessLoss * std::log(static_cast<double>(model_.vocabularies.target->size()));
  if (!std::isfinite(loss) || !std::isfinite(step.norm) || loss > hopeless) {
    skip_update(loss, step.norm);
    return;
  }
  skipped_in_row_ = 0;
  const double clip = config_.training.clip_norm;
  updater_->step(rate_->at(update_), clip > 0 && step.norm > clip ? clip / step.norm : 1.0);
  for (Window* sum : {&window_, &whole_}) {
    sum->objective += step.objective;
    sum->nll += step.nll;
    sum->norm += step.norm;
    sum->tokens += step.tokens;
    sum->guided += step.guided;
    sum->guided_tokens += step.guided_tokens;
    sum->updates += 1;
    sum->seconds += seconds_since(start);
  }
}

void Trainer::forward_backward(const std::vector<int64_t>& pairs, Window& step) {
  std::vector<EncodedLine> drawn;  // keeps sampled ids alive
  std::vector<std::span<const std::int32_t>> sources, targets;
  std::vector<PairLinks> links;
  const bool sampling = config_.vocabulary.sampling > 0;
  drawn.reserve(2 * pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (sampling) {
      // A stream of its own for each place in the run: nothing to save, the same after a resume.
      Random random(static_cast<std::uint64_t>(config_.seed),
                    (static_cast<std::uint64_t>(update_) << 20) + i + 1);
      drawn.push_back(dataset_->sampled_source(pairs[i], random));
      sources.emplace_back(drawn.back().ids);
      drawn.push_back(dataset_->sampled_target(pairs[i], random));
      targets.emplace_back(drawn.back().ids);
      links.push_back(
          {drawn[2 * i].word_of, drawn.back().word_of, dataset_->links(pairs[i]).links});
    } else {
      sources.push_back(dataset_->source(pairs[i]));
      targets.push_back(dataset_->target(pairs[i]));
      links.push_back(dataset_->links(pairs[i]));
    }
  }
  const SourceBatch source = make_source_batch(sources, config_.model.attend_end, device_);
  const TargetBatch target = make_target_batch(targets, device_);
  if (check_ != nullptr) {
    const Tensor masks = generator_state(device_);
    model_.network->use_kernels(Kernels::kGeneric);
    differentiate(source, target, links, step);
    check_->expect(*model_.network, step.objective);
    model_.network->use_kernels(Kernels::kFused);
    set_generator_state(device_, masks);
  }
  differentiate(source, target, links, step);
  if (check_ != nullptr) check_->compare(*model_.network, step.objective);
  step.norm = updater_->gradient_norm();
}

void Trainer::differentiate(const SourceBatch& source, const TargetBatch& target,
                            const std::vector<PairLinks>& links, Window& step) {
  const DecoderOutput output = model_.network->forward(source, target);
  const Loss loss =
      cross_entropy(*model_.network, output.readout, target, config_.training.label_smoothing);
  Tensor objective = loss.objective;
  const GuidedConfig& guided = config_.training.guided;
  if (dataset_->has_links() && guided.weight > 0) {
    const GuidedTargets wanted = guided_targets(links, output.alpha, config_.model.decoder.shift);
    const Tensor guided_sum = guided_loss(output.alpha, wanted);
    objective = objective + guided_weight(guided, update_) * guided_sum;
    step.guided = guided_sum.item<double>();
    step.guided_tokens = wanted.tokens;
  }
  (objective / static_cast<double>(loss.tokens)).backward();
  step.objective = loss.objective.item<double>();
  step.nll = loss.nll.sum().item<double>();
  step.tokens = loss.tokens;
}

/// A device that has no room for a batch is fine for the next, and its allocator has not lost
/// anything. A CPU that has none is about to end this process or another.
void Trainer::skip_for_memory(const std::vector<int64_t>& pairs) {
  std::size_t longest = 0;
  int64_t which = pairs.front();
  for (const int64_t pair : pairs) {
    const std::size_t len = dataset_->source(pair).size() + dataset_->target(pair).size();
    if (len > longest) {
      longest = len;
      which = pair;
    }
  }
  const std::string what =
      cat("not enough memory for a batch of ", pairs.size(), pairs.size() == 1 ? " pair" : " pairs",
          "; its longest is line ", dataset_->line(which), " of data.train[",
          dataset_->corpus(which), "] with ", dataset_->source(which).size(), " source and ",
          dataset_->target(which).size(), " target tokens");
  if (!device_.is_cuda() || ++too_large_ > kMostTooLarge) {
    throw DataError(cat(what, "; lower data.max_len or training.batch_tokens"));
  }
  updater_->zero_grad();
  ++update_;
  ++skipped_;
  log::warning(cat("update ", update_, " left out: ", what, " (", too_large_, " so far; after ",
                   kMostTooLarge, " the run ends)"));
}

void Trainer::skip_update(double loss, double norm) {
  ++skipped_;
  ++skipped_in_row_;
  updater_->zero_grad();
  log::warning(cat("update ", update_, " left out: loss ", loss, ", gradient norm ", norm, " (",
                   skipped_in_row_, " in a row, ", skipped_, " in all)"));
  if (skipped_in_row_ < config_.training.max_nonfinite) return;
  throw NumericError(cat("update ", update_, ": ", skipped_in_row_,
                         " updates in a row without a usable loss or gradient; the last checkpoint "
                         "is from update ",
                         saved_, " (", folder_.last(),
                         "); lower training.learning_rate or training.clip_norm"));
}

void Trainer::validate(bool due) {
  validation_due_ = due;
  auto result = validator_->run(model_, folder_.file(cat("valid/update-", update_, ".txt")), stop_);
  if (!result) return;  // stopped: still due when the run is resumed
  validation_due_ = false;
  if (due) validated_ = update_;
  Validation& validation = *result;
  validation.extra = !due;
  validation.update = update_;
  validation.epoch = epoch();
  judge(validation);
  validation.elapsed = elapsed_before_ + seconds_since(began_);
  metrics_->write(validation);
  reporter_.validation(validation);
  if (config_.checkpoint.keep > 0) {
    save(folder_.at_update(update_), info_of(validation), nullptr);
    folder_.keep_newest(config_.checkpoint.keep);
  }
  save_last();
}

void Trainer::judge(Validation& validation) {
  for (const Metric metric : best_.add(validation)) {
    const bool main = metric == config_.validation.metric;
    save(main ? folder_.best() : folder_.best(metric), info_of(validation), nullptr);
  }
  validation.metric = config_.validation.metric;
  validation.best = validation.extra ? best_.file_value() : best_.value();
  validation.best_update = validation.extra ? best_.file_update() : best_.update();
  validation.gained = validation.best_update == update_;
  if (!validation.extra && rate_->validated(validation.gained)) {
    log::info(cat("no gain: learning rate falls to ", rate_->at(update_ + 1)));
  }
  validation.without_gain = best_.without_gain();
  validation.patience = config_.validation.patience;
  validation.learning_rate = rate_->at(update_ + 1);
}

std::string Trainer::end_reason() const {
  const TrainingConfig& training = config_.training;
  const int64_t patience = config_.validation.patience;
  if (validator_ != nullptr && patience > 0 && best_.without_gain() >= patience) {
    return cat("early stopping: ", patience, " validations without gain in ",
               enum_name(config_.validation.metric));
  }
  if (training.max_updates > 0 && update_ >= training.max_updates) {
    return cat("training.max_updates (", training.max_updates, ") reached");
  }
  if (training.max_epochs > 0 && epoch() >= static_cast<double>(training.max_epochs)) {
    return cat("training.max_epochs (", training.max_epochs, ") reached");
  }
  return {};
}

double Trainer::epoch() const {
  const BatcherPosition position = batcher_->position();
  const auto batches = static_cast<double>(std::max<int64_t>(1, batcher_->batches_per_epoch()));
  return static_cast<double>(position.epoch) + static_cast<double>(position.batch) / batches;
}

int64_t Trainer::updates_to_validation() const {
  const int64_t every = config_.validation.every_updates;
  if (every > 0) return (every - update_ % every) % every;
  if (epoch_ended_) return 0;
  return batcher_->batches_per_epoch() - batcher_->position().batch;
}

Progress Trainer::progress() const {
  Progress p;
  p.update = update_;
  p.epoch = epoch();
  const auto tokens = static_cast<double>(std::max<int64_t>(1, window_.tokens));
  const auto updates = static_cast<double>(std::max<int64_t>(1, window_.updates));
  p.loss = window_.objective / tokens;
  p.perplexity = std::exp(window_.nll / tokens);
  if (window_.guided_tokens > 0) {
    p.guided = window_.guided / static_cast<double>(window_.guided_tokens);
  }
  p.tokens_per_second =
      window_.seconds > 0 ? static_cast<double>(window_.tokens) / window_.seconds : 0;
  p.learning_rate = rate_->at(update_);
  p.gradient_norm = window_.norm / updates;
  p.padding = batcher_->padding();
  p.skipped = skipped_;
  p.elapsed = elapsed_before_ + seconds_since(began_);
  if (whole_.updates == 0) return p;
  const double per_update = whole_.seconds / static_cast<double>(whole_.updates);
  double left = std::numeric_limits<double>::infinity();
  const TrainingConfig& training = config_.training;
  if (training.max_updates > 0) left = static_cast<double>(training.max_updates - update_);
  if (training.max_epochs > 0) {
    left = std::min(left, (static_cast<double>(training.max_epochs) - p.epoch) *
                              static_cast<double>(batcher_->batches_per_epoch()));
  }
  if (std::isfinite(left)) p.left = left * per_update;
  if (validator_ != nullptr) {
    p.left_to_validation = static_cast<double>(updates_to_validation()) * per_update;
  }
  return p;
}

void Trainer::report_progress() {
  if (window_.updates == 0) return;
  const Progress line = progress();
  metrics_->write(line);
  reporter_.progress(line);
  if (check_ != nullptr) log::info(check_->summary());
  window_ = {};
}

TrainingState Trainer::state() const {
  TrainingState state;
  state.values = rate_->state();
  state.values.merge(best_.state());
  const BatcherPosition position = batcher_->position();
  const std::map<std::string, std::string> values = {
      {"update", cat(update_)},
      {"optimizer.steps", cat(updater_->steps())},
      {"data.digest", dataset_->digest()},
      {"data.epoch", cat(position.epoch)},
      {"data.batch", cat(position.batch)},
      {"data.epoch_ended", cat(epoch_ended_)},
      {"skipped", cat(skipped_)},
      {"skipped_in_row", cat(skipped_in_row_)},
      {"validated", cat(validated_)},
      {"validation_due", cat(validation_due_)},
      {"window.tokens", cat(window_.tokens)},
      {"window.updates", cat(window_.updates)},
      {"window.objective", exact(window_.objective)},
      {"window.nll", exact(window_.nll)},
      {"window.norm", exact(window_.norm)},
      {"window.seconds", exact(window_.seconds)},
      {"window.guided", exact(window_.guided)},
      {"window.guided_tokens", cat(window_.guided_tokens)},
      {"elapsed", exact(elapsed_before_ + seconds_since(began_))},
  };
  state.values.insert(values.begin(), values.end());
  for (const auto& [name, moment] : updater_->state()) state.tensors["optimizer." + name] = moment;
  state.tensors["generator"] = generator_state(device_);
  return state;
}

void Trainer::set_state(const TrainingState& state, bool same_data) {
  const auto& values = state.values;
  update_ = whole_number(values, "update");
  std::map<std::string, Tensor> moments;
  const std::string prefix = "optimizer.";
  for (const auto& [name, tensor] : state.tensors) {
    if (name.starts_with(prefix)) moments[name.substr(prefix.size())] = tensor;
  }
  updater_->set_state(moments, whole_number(values, "optimizer.steps"));
  rate_->set_state(values);
  best_.set_state(values);
  epoch_ended_ = whole_number(values, "data.epoch_ended") != 0;
  BatcherPosition position{whole_number(values, "data.epoch"), whole_number(values, "data.batch")};
  if (!same_data) position = {position.epoch + (epoch_ended_ ? 1 : 0), 0};
  batcher_->set_position(position);
  skipped_ = whole_number(values, "skipped");
  skipped_in_row_ = whole_number(values, "skipped_in_row");
  validated_ = whole_number(values, "validated");
  validation_due_ = whole_number(values, "validation_due") != 0;
  window_.tokens = whole_number(values, "window.tokens");
  window_.updates = whole_number(values, "window.updates");
  window_.objective = real_number(values, "window.objective");
  window_.nll = real_number(values, "window.nll");
  window_.norm = real_number(values, "window.norm");
  window_.seconds = real_number(values, "window.seconds");
  window_.guided = real_number(values, "window.guided");
  window_.guided_tokens = whole_number(values, "window.guided_tokens");
  elapsed_before_ = real_number(values, "elapsed");
  const auto generator = state.tensors.find("generator");
  if (generator == state.tensors.end()) {
    throw CheckpointError(cat(folder_.last(), ": training state \"generator\" is missing"));
  }
  set_generator_state(device_, generator->second.to(torch::kCPU));
}

void Trainer::save(const std::string& path, const CheckpointInfo& info,
                   const TrainingState* state) {
  try {
    save_checkpoint(path, model_, info, state);
  } catch (const CheckpointError& problem) {
    if (saved_ < 0) throw;
    throw CheckpointError(cat(problem.what(), "; nothing is lost up to update ", saved_, " (",
                              folder_.last(), "): mend this and go on with --resume"));
  }
}

void Trainer::save_last() {
  metrics_->sync();
  if (probe_ != nullptr) probe_->sync();
  const TrainingState now = state();
  CheckpointInfo info = best_.info();
  info.update = update_;
  info.epoch = epoch();
  save(folder_.last(), info, &now);
  saved_ = update_;
  saved_at_ = Clock::now();
}

TrainResult Trainer::finish(const std::string& reason) {
  if (saved_ != update_ || validation_due_) save_last();
  TrainResult result{reason, update_, {}, best_.file_update(), stop_};
  if (best_.file_update() >= 0) result.best_file = folder_.best();
  metrics_->write_end(update_, reason);
  return result;
}

}  // namespace

TrainResult train(Config config, const TrainOptions& options, Reporter& reporter,
                  const std::atomic<int>& stop) {
  return Trainer(std::move(config), options, reporter, stop).run();
}

}  // namespace verso
