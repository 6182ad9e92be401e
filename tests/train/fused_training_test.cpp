#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "model/seq2seq.h"
#include "nn/buffer_cache.h"
#include "train/optimizer.h"

// What a run of updates by the fused kernels promises: the losses of the generic ones, and no
// memory from the system once it has seen its batches.
namespace verso {
namespace {

constexpr int64_t kVocab = 40;

ModelSpec small_spec(Kernels kernels) {
  ModelSpec spec;
  spec.source_vocab = spec.target_vocab = kVocab;
  spec.model.embed = 24;
  spec.model.hidden = 32;
  spec.model.attention = 20;
  spec.model.dropout = {0, 0, 0, 0, 0, 0};
  spec.kernels = kernels;
  return spec;
}

/// Copies to learn, of different lengths: update `u` gets the same ones each time.
std::vector<std::vector<std::int32_t>> sentences(std::uint64_t u) {
  Random random(u + 1);
  std::vector<std::vector<std::int32_t>> made(8);
  for (auto& sentence : made) {
    for (std::uint64_t i = random.below(9) + 1; i > 0; --i) {
      sentence.push_back(static_cast<std::int32_t>(4 + random.below(kVocab - 4)));
    }
  }
  return made;
}

double update(Seq2Seq& model, ParameterUpdater& updater, std::uint64_t u) {
  const auto ids = sentences(u);
  const std::vector<std::span<const std::int32_t>> lines(ids.begin(), ids.end());
  const SourceBatch source = make_source_batch(lines, true, torch::kCPU);
  const TargetBatch target = make_target_batch(lines, torch::kCPU);
  updater.zero_grad();
  const DecoderOutput out = model->forward(source, target);
  const Loss loss = cross_entropy(*model, out.readout, target, 0.1);
  const Tensor mean = loss.objective / static_cast<double>(loss.tokens);
  mean.backward();
  const double norm = updater.gradient_norm();
  updater.step(0.003, norm > 1 ? 1 / norm : 1.0);
  return mean.item<double>();
}

std::vector<double> losses(Kernels kernels, std::uint64_t updates) {
  torch::manual_seed(9);
  Seq2Seq model(small_spec(kernels));
  ParameterUpdater updater(*model, TrainingConfig(), model->fused());
  std::vector<double> found;
  for (std::uint64_t u = 0; u < updates; ++u) found.push_back(update(model, updater, u));
  return found;
}

TEST(FusedTraining, LossesOfFiftyUpdatesAreTheGenericOnes) {
  const std::vector<double> fused = losses(Kernels::kFused, 50);
  const std::vector<double> generic = losses(Kernels::kGeneric, 50);
  for (std::size_t u = 0; u < fused.size(); ++u) {
    EXPECT_NEAR(fused[u], generic[u], 1e-4 * generic[u]) << "update " << u;
  }
  EXPECT_LT(fused.back(), fused.front());
}

TEST(FusedTraining, TakesNoMemoryFromTheSystemOnceItHasSeenItsBatches) {
  use_buffer_cache(true);
  torch::manual_seed(9);
  Seq2Seq model(small_spec(Kernels::kFused));
  ParameterUpdater updater(*model, TrainingConfig(), true);
  // Which buffers wait at a moment depends on the order of batches: twice round, then nothing new.
  constexpr std::uint64_t kBatches = 5;
  for (std::uint64_t u = 0; u < 2 * kBatches; ++u) (void)update(model, updater, u % kBatches);
  const BufferCacheCounts before = buffer_cache_counts();
  for (std::uint64_t u = 0; u < 4 * kBatches; ++u) (void)update(model, updater, u % kBatches);
  const BufferCacheCounts after = buffer_cache_counts();
  EXPECT_GT(after.requests, before.requests + 1000);
  EXPECT_EQ(after.fresh, before.fresh);
  use_buffer_cache(false);
}

}  // namespace
}  // namespace verso
