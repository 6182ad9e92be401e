// A whole training step (forward, backward, gradient norm, Adam) by each implementation, and the
// machine's own product rate, in one run: what counts are the ratios.

#include <benchmark/benchmark.h>

#include "nn/buffer_cache.h"
#include "shapes.h"
#include "train/optimizer.h"

namespace verso::bench {
namespace {

void sgemm(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const Tensor a = torch::rand({m, k}), b = torch::rand({k, n});
  Tensor c = torch::empty({m, n});
  for (auto _ : state) at::mm_out(c, a, b);
  state.counters["flops"] = benchmark::Counter(static_cast<double>(2 * m * n * k),
                                               benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(sgemm)->Args({2048, 2048, 2048})->UseRealTime()->Unit(benchmark::kMillisecond);
// The step's own shapes: recurrent, keys, values, output.
BENCHMARK(sgemm)
    ->Args({64, 1536, 512})
    ->Args({960, 512, 1024})
    ->Args({960, 1536, 1024})
    ->Args({960, kVocab, 256})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

enum Kind { kRnnsearch, kConditional };
enum Lengths { kEven, kMixed };

void training_step(benchmark::State& state, Kernels kernels, Kind kind, Lengths lengths) {
  const auto decoder = kind == kRnnsearch ? DecoderKind::kRnnsearch : DecoderKind::kConditional;
  Seq2Seq model = make_model(kernels, decoder);
  const Batch batch = lengths == kEven ? even_batch() : mixed_batch();
  ParameterUpdater updater(*model, TrainingConfig(), model->fused());
  use_buffer_cache(model->fused());
  for (auto _ : state) {
    updater.zero_grad();
    const DecoderOutput out = model->forward(batch.source, batch.target);
    const Loss loss = cross_entropy(*model, out.readout, batch.target, 0.0);
    (loss.objective / static_cast<double>(loss.tokens)).backward();
    const double norm = updater.gradient_norm();
    updater.step(1e-4, norm > 1 ? 1 / norm : 1);
  }
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["flops"] = benchmark::Counter(product_flops(model_config(decoder), batch), rate);
  state.counters["tokens"] =
      benchmark::Counter(static_cast<double>(batch.target.packed.tokens), rate);
}

#define VERSO_STEP(kind, lengths)                                                            \
  BENCHMARK_CAPTURE(training_step, generic##kind##lengths, Kernels::kGeneric, kind, lengths) \
      ->UseRealTime()                                                                        \
      ->Unit(benchmark::kMillisecond);                                                       \
  BENCHMARK_CAPTURE(training_step, fused##kind##lengths, Kernels::kFused, kind, lengths)     \
      ->UseRealTime()                                                                        \
      ->Unit(benchmark::kMillisecond)

VERSO_STEP(kRnnsearch, kEven);
VERSO_STEP(kConditional, kEven);
VERSO_STEP(kRnnsearch, kMixed);

}  // namespace
}  // namespace verso::bench

int main(int argc, char** argv) {
  verso::set_threads(0);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
