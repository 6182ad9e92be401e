// Each fused part against its generic twin, forward alone and with the way back.

#include <benchmark/benchmark.h>

#include "nn/buffer_cache.h"
#include "nn/vector_math.h"
#include "shapes.h"
#include "train/optimizer.h"

namespace verso::bench {
namespace {

enum Way { kForward, kBoth };

/// Runs `forward` (which gives a tensor that depends on parameters), and back with `way`.
template <class Forward>
void run(benchmark::State& state, torch::nn::Module& module, bool fused, Way way,
         const Forward& forward) {
  use_buffer_cache(fused);
  for (auto _ : state) {
    if (way == kForward) {
      const torch::NoGradGuard no_grad;
      benchmark::DoNotOptimize(forward());
    } else {
      module.zero_grad();
      forward().backward();
    }
  }
}

void encoder(benchmark::State& state, bool fused, Way way) {
  seed_generators(1);
  Encoder module(model_config(DecoderKind::kRnnsearch));
  torch::NoGradGuard no_grad;
  for (Tensor& parameter : module->parameters()) parameter.uniform_(-0.05, 0.05);
  const Batch batch = even_batch();
  const Tensor embedded = torch::randn({batch.source.packed.tokens, 256});
  const torch::AutoGradMode grad(true);
  run(state, *module, fused, way,
      [&] { return module->forward(embedded, batch.source, fused).sum(); });
}

void decoder(benchmark::State& state, bool fused, Way way, DecoderKind kind) {
  seed_generators(1);
  Decoder module(model_config(kind));
  {
    const torch::NoGradGuard no_grad;
    for (Tensor& parameter : module->parameters()) parameter.uniform_(-0.05, 0.05);
  }
  const Batch batch = even_batch();
  const Tensor states = torch::randn({batch.source.packed.tokens, 1024});
  const Tensor embedded = torch::randn({batch.target.packed.tokens, 256});
  run(state, *module, fused, way, [&] {
    const Memory memory = module->remember(states, batch.source, fused, false);
    return module->forward(memory, embedded, batch.target).readout.sum();
  });
}

void output_and_loss(benchmark::State& state, bool fused, Way way) {
  Seq2Seq model = make_model(fused ? Kernels::kFused : Kernels::kGeneric);
  const Batch batch = even_batch();
  Tensor readout = torch::randn({batch.target.packed.tokens, 256}).set_requires_grad(true);
  run(state, *model, fused, way,
      [&] { return cross_entropy(*model, readout, batch.target, 0.1).objective; });
}

void optimizer(benchmark::State& state, bool fused) {
  Seq2Seq model = make_model(Kernels::kGeneric);
  use_buffer_cache(fused);
  {
    const torch::NoGradGuard no_grad;
    for (Tensor parameter : model->parameters()) {
      parameter.mutable_grad() = torch::randn_like(parameter);
    }
  }
  ParameterUpdater updater(*model, TrainingConfig(), fused);
  for (auto _ : state) updater.step(1e-6, 1 / updater.gradient_norm());
}

void tanh_of_a_million(benchmark::State& state, bool fused) {
  const Tensor x = torch::randn({1 << 20});
  Tensor y = torch::empty_like(x);
  set_threads(1);
  for (auto _ : state) {
    if (fused) {
      vector_tanh(x.numel(), x.data_ptr<float>(), y.data_ptr<float>());
    } else {
      at::tanh_out(y, x);
    }
  }
  set_threads(0);
}

template <class Run>
void add(const std::string& name, const Run& run) {
  for (const bool fused : {false, true}) {
    const std::string whole = (fused ? "fused/" : "generic/") + name;
    benchmark::RegisterBenchmark(whole.c_str(),
                                 [run, fused](benchmark::State& state) { run(state, fused); })
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  }
}

template <class Run>
void add_both_ways(const std::string& name, const Run& run) {
  for (const Way way : {kForward, kBoth}) {
    add(name + (way == kForward ? "/forward" : "/forward_and_back"),
        [run, way](benchmark::State& state, bool fused) { run(state, fused, way); });
  }
}

}  // namespace
}  // namespace verso::bench

int main(int argc, char** argv) {
  using namespace verso::bench;
  verso::set_threads(0);
  benchmark::Initialize(&argc, argv);
  using State = benchmark::State;
  add_both_ways("encoder", encoder);
  add_both_ways("decoder_rnnsearch", [](State& state, bool fused, Way way) {
    decoder(state, fused, way, verso::DecoderKind::kRnnsearch);
  });
  add_both_ways("decoder_conditional", [](State& state, bool fused, Way way) {
    decoder(state, fused, way, verso::DecoderKind::kConditional);
  });
  add_both_ways("output_and_loss", output_and_loss);
  add("norm_and_adam", optimizer);
  add("tanh_2^20_one_thread", tanh_of_a_million);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
