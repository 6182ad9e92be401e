#include "data/batcher.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "base/text.h"

namespace verso {
namespace {

// Keeps the batcher's random streams apart from those of others with the same seed.
constexpr std::uint64_t kFirstStream = std::uint64_t{0x62617463} << 32;

}  // namespace

Batcher::Batcher(std::shared_ptr<const Dataset> dataset, const Config& config, std::uint64_t seed)
    : dataset_(std::move(dataset)),
      batch_tokens_(config.training.batch_tokens),
      sort_window_(config.training.sort_window),
      seed_(seed) {
  if (dataset_->size() > std::numeric_limits<std::uint32_t>::max()) {
    throw DataError(cat(dataset_->size(), " training pairs, expected fewer than 2^32"));
  }
  for (const CorpusConfig& corpus : config.data.train) weights_.push_back(corpus.weight);
  start_epoch(0);
}

const std::vector<std::int64_t>& Batcher::next() {
  if (epoch_finished()) start_epoch(position_.epoch + 1);
  const std::size_t index = batch_order_[static_cast<std::size_t>(position_.batch++)];
  const auto first = pairs_.begin();
  batch_.assign(first + static_cast<std::ptrdiff_t>(index == 0 ? 0 : batch_ends_[index - 1]),
                first + static_cast<std::ptrdiff_t>(batch_ends_[index]));
  return batch_;
}

std::int64_t Batcher::batches_per_epoch() const { return std::ssize(batch_order_); }

bool Batcher::epoch_finished() const { return position_.batch == batches_per_epoch(); }

BatcherPosition Batcher::position() const { return position_; }

void Batcher::set_position(const BatcherPosition& position) {
  if (position.epoch < 0) throw DataError(cat("there is no epoch ", position.epoch));
  if (position.epoch != position_.epoch) start_epoch(position.epoch);
  if (position.batch < 0 || position.batch > batches_per_epoch()) {
    throw DataError(cat("there is no batch ", position.batch, " in epoch ", position.epoch,
                        ", which has ", batches_per_epoch(), "; the training data has changed"));
  }
  position_ = position;
}

double Batcher::padding() const {
  return 1.0 - static_cast<double>(real_positions_) / static_cast<double>(positions_);
}

void Batcher::start_epoch(std::int64_t epoch) {
  Random random(seed_, kFirstStream + static_cast<std::uint64_t>(epoch));
  position_ = {epoch, 0};
  positions_ = real_positions_ = 0;
  batch_ends_.clear();
  draw_pairs(random);
  random.shuffle(pairs_);
  const std::int64_t window_positions = batch_tokens_ * sort_window_;
  std::int64_t positions = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    positions += std::ssize(dataset_->target(pairs_[i])) + 1;
    if (positions < window_positions && i + 1 < pairs_.size()) continue;
    cut_window(begin, i + 1);
    begin = i + 1;
    positions = 0;
  }
  batch_order_.resize(batch_ends_.size());
  std::iota(batch_order_.begin(), batch_order_.end(), 0u);
  random.shuffle(batch_order_);
}

void Batcher::draw_pairs(Random& random) {
  pairs_.clear();
  std::int64_t first = 0;
  std::vector<std::uint32_t> corpus_pairs;
  while (first < dataset_->size()) {
    const std::int64_t corpus = dataset_->corpus(first);
    std::int64_t low = first, high = dataset_->size();  // pairs stand corpus by corpus
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (dataset_->corpus(middle) == corpus ? low : high) = middle;
    }
    const double weight = weights_.at(static_cast<std::size_t>(corpus));
    const double whole = std::floor(weight);
    corpus_pairs.resize(static_cast<std::size_t>(high - first));
    std::iota(corpus_pairs.begin(), corpus_pairs.end(), static_cast<std::uint32_t>(first));
    for (double copy = 0; copy < whole; ++copy) {
      pairs_.insert(pairs_.end(), corpus_pairs.begin(), corpus_pairs.end());
    }
    if (weight > whole) {
      // A fraction of a pair is a pair with that probability.
      const double share = (weight - whole) * static_cast<double>(corpus_pairs.size());
      const auto count = static_cast<std::ptrdiff_t>(share + random.uniform());
      random.shuffle(corpus_pairs);
      pairs_.insert(pairs_.end(), corpus_pairs.begin(),
                    corpus_pairs.begin() + std::min(count, std::ssize(corpus_pairs)));
    }
    first = high;
  }
  // Tiny weights of tiny corpora must not make an epoch without a batch.
  if (pairs_.empty()) {
    pairs_.push_back(
        static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(dataset_->size()))));
  }
}

void Batcher::cut_window(std::size_t begin, std::size_t end) {
  struct Lengths {
    std::uint32_t pair, source, target;
  };
  std::vector<Lengths> window;
  window.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) {
    window.push_back({pairs_[i], static_cast<std::uint32_t>(dataset_->source(pairs_[i]).size()),
                      static_cast<std::uint32_t>(dataset_->target(pairs_[i]).size())});
  }
  // Source lengths rise and fall in turn, so that a batch across two target lengths has alike ones.
  std::stable_sort(window.begin(), window.end(), [](const Lengths& a, const Lengths& b) {
    if (a.target != b.target) return a.target < b.target;
    return a.target % 2 == 0 ? a.source < b.source : a.source > b.source;
  });
  std::size_t batch_begin = begin;
  for (std::size_t i = begin; i < end; ++i) {
    const Lengths& lengths = window[i - begin];
    const auto count = static_cast<std::int64_t>(i - batch_begin) + 1;
    if (count > 1 && count * (lengths.target + std::int64_t{1}) > batch_tokens_) {
      close_batch(batch_begin, i);
      batch_begin = i;
    }
    pairs_[i] = lengths.pair;
  }
  close_batch(batch_begin, end);
}

void Batcher::close_batch(std::size_t begin, std::size_t end) {
  const auto source_len = [&](std::uint32_t pair) { return std::ssize(dataset_->source(pair)); };
  const auto first = pairs_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = pairs_.begin() + static_cast<std::ptrdiff_t>(end);
  std::stable_sort(first, last,
                   [&](std::uint32_t a, std::uint32_t b) { return source_len(a) > source_len(b); });
  std::int64_t longest_source = 0, longest_target = 0;
  for (auto pair = first; pair != last; ++pair) {
    const std::int64_t source = source_len(*pair) + 1;
    const std::int64_t target = std::ssize(dataset_->target(*pair)) + 1;
    longest_source = std::max(longest_source, source);
    longest_target = std::max(longest_target, target);
    real_positions_ += source + target;
  }
  positions_ += (longest_source + longest_target) * (last - first);
  batch_ends_.push_back(end);
}

}  // namespace verso
