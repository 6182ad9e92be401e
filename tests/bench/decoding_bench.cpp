// Translation of a text by a trained model: a plain loop that replicates the encoder's states for
// every hypothesis, as most toolkits' first version does, against our search by each
// implementation.
//   decoding_bench MODEL SOURCE_FILE [benchmark options]

#include <benchmark/benchmark.h>

#include <cmath>
#include <fstream>
#include <iostream>

#include "checkpoint/checkpoint.h"
#include "nn/buffer_cache.h"
#include "nn/runtime.h"
#include "search/translator.h"

namespace verso::bench {
namespace {

std::vector<Checkpoint> loaded;
std::vector<std::string> lines;

/// Replicates states, keys and mask `beam` times, keeps every sentence and every hypothesis to the
/// end of the batch, and sorts all words of all hypotheses. Returns the best translations' tokens.
int64_t plain_beam_search(const TranslationModel& model,
                          const std::vector<std::span<const std::int32_t>>& sources, int64_t beam) {
  const c10::InferenceMode no_gradients;
  Seq2Seq network = model.network;
  const auto batch = static_cast<int64_t>(sources.size());
  const SourceBatch source = make_source_batch(sources, model.config.model.attend_end, torch::kCPU);
  Memory memory = network->encode(source);
  const auto replicate = [&](const Tensor& x) { return x.repeat_interleave(beam, 0); };
  memory.states = replicate(memory.states);
  memory.keys = replicate(memory.keys);
  memory.mask = replicate(memory.mask);
  Tensor state = replicate(memory.start);
  Tensor words = torch::full({batch * beam}, int64_t{kBeginId}, torch::kInt64);
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < batch * beam; ++row) rows.push_back(row);
  Tensor sums = torch::full({batch, beam}, -1e9F);
  sums.select(1, 0).fill_(0);
  Tensor over = torch::zeros({batch * beam}, torch::kBool);
  Tensor length = torch::zeros({batch * beam}, torch::kInt64);
  const Tensor base = torch::arange(batch).unsqueeze(1) * beam;
  const int64_t limit = 3 * source.packed.longest + 10;
  for (int64_t t = 0; t < limit && !over.all().item<bool>(); ++t) {
    const DecoderStep step = network->step(memory, {state, words, rows});
    Tensor log_probs = at::log_softmax(network->logits(step.readout), -1);
    const int64_t vocab = log_probs.size(1);
    // A finished hypothesis goes on with end symbols at no cost.
    log_probs.masked_fill_(over.unsqueeze(1), -1e9F);
    log_probs.select(1, kEndId).masked_fill_(over, 0.0F);
    const Tensor scores =
        (sums.unsqueeze(2) + log_probs.view({batch, beam, vocab})).view({batch, beam * vocab});
    const auto [best, place] = scores.topk(beam, 1);
    sums = best;
    const Tensor parent = (base + at::div(place, vocab, "floor")).view({-1});
    words = at::remainder(place, vocab).view({-1});
    state = step.state.index_select(0, parent);
    over = over.index_select(0, parent);
    length = length.index_select(0, parent) + over.logical_not().to(torch::kInt64);
    over = over.logical_or(words.eq(kEndId));
  }
  const Tensor normal = sums / length.view({batch, beam}).clamp_min(1);
  return length.view({batch, beam}).gather(1, normal.argmax(1, true)).sum().item<int64_t>();
}

void plain_loop(benchmark::State& state, int64_t beam) {
  const TranslationModel& model = loaded[0].model;
  Seq2Seq network = model.network;
  network->use_kernels(Kernels::kGeneric);
  use_buffer_cache(false);
  std::vector<EncodedLine> encoded;
  for (const std::string& line : lines) encoded.push_back(model.vocabularies.source->encode(line));
  std::vector<std::size_t> order(lines.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return encoded[a].ids.size() > encoded[b].ids.size();
  });
  int64_t tokens = 0;
  for (auto _ : state) {
    tokens = 0;
    constexpr std::size_t kBatch = 64;
    for (std::size_t first = 0; first < order.size(); first += kBatch) {
      std::vector<std::span<const std::int32_t>> batch;
      for (std::size_t i = first; i < std::min(order.size(), first + kBatch); ++i) {
        batch.emplace_back(encoded[order[i]].ids);
      }
      tokens += plain_beam_search(model, batch, beam);
    }
  }
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(tokens),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void search(benchmark::State& state, Kernels kernels, int64_t beam) {
  Seq2Seq network = loaded[0].model.network;
  network->use_kernels(kernels);
  use_buffer_cache(kernels == Kernels::kFused);
  TranslateOptions options;
  options.search.beam = beam;
  options.search.attention = false;
  const Translator translator({&loaded[0].model}, options);
  int64_t tokens = 0;
  for (auto _ : state) {
    tokens = 0;
    for (const Translation& translation : translator.translate(lines, 1, {})) {
      tokens += static_cast<int64_t>(translation.nbest[0].ids.size()) + 1;
    }
  }
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(tokens),
                                                benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  for (const int64_t beam : {5, 1}) {
    const std::string width = "/beam" + std::to_string(beam);
    const auto add = [](const std::string& name, auto run) {
      benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMillisecond);
    };
    add("plain_loop" + width, [beam](benchmark::State& state) { plain_loop(state, beam); });
    add("search_generic" + width,
        [beam](benchmark::State& state) { search(state, Kernels::kGeneric, beam); });
    add("search_fused" + width,
        [beam](benchmark::State& state) { search(state, Kernels::kFused, beam); });
  }
}

}  // namespace
}  // namespace verso::bench

int main(int argc, char** argv) {
  using namespace verso;
  if (argc < 3) {
    std::cerr << "usage: decoding_bench MODEL SOURCE_FILE [benchmark options]\n";
    return 2;
  }
  set_threads(0);
  bench::loaded.push_back(load_checkpoint(argv[1], torch::kCPU));
  std::ifstream text(argv[2]);
  for (std::string line; std::getline(text, line);) bench::lines.push_back(line);
  argv[2] = argv[0];
  argc -= 2;
  argv += 2;
  benchmark::Initialize(&argc, argv);
  bench::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
