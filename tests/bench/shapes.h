#pragma once

#include <ATen/Parallel.h>

#include "base/random.h"
#include "model/seq2seq.h"
#include "nn/runtime.h"

/// The models and batches that the benchmarks share: a Multi30k batch of about 1000 target tokens.
namespace verso::bench {

constexpr int64_t kVocab = 8000;

inline ModelConfig model_config(DecoderKind kind) {
  ModelConfig config;
  config.embed = 256;
  config.hidden = 512;
  config.attention = 512;
  config.decoder.kind = kind;
  config.tie = Tie::kNone;
  config.dropout = {0, 0, 0, 0, 0, 0};
  return config;
}

inline Seq2Seq make_model(Kernels kernels, DecoderKind kind = DecoderKind::kRnnsearch) {
  seed_generators(1);
  ModelSpec spec{model_config(kind), kVocab, kVocab};
  spec.kernels = kernels;
  return Seq2Seq(spec);
}

/// Sentences of random words, `lengths` without the end symbol.
inline std::vector<std::vector<std::int32_t>> sentences(const std::vector<int64_t>& lengths) {
  Random random(7);
  std::vector<std::vector<std::int32_t>> made;
  for (const int64_t length : lengths) {
    std::vector<std::int32_t>& words = made.emplace_back();
    for (int64_t i = 0; i < length; ++i) {
      words.push_back(static_cast<std::int32_t>(4 + random.below(kVocab - 4)));
    }
  }
  return made;
}

inline std::vector<std::span<const std::int32_t>> spans(
    const std::vector<std::vector<std::int32_t>>& rows) {
  return {rows.begin(), rows.end()};
}

struct Batch {
  SourceBatch source;
  TargetBatch target;
};

inline Batch make_batch(const std::vector<int64_t>& source, const std::vector<int64_t>& target) {
  return {make_source_batch(spans(sentences(source)), true, torch::kCPU),
          make_target_batch(spans(sentences(target)), torch::kCPU)};
}

/// 64 pairs of 15 tokens a side, end symbols included: no padding.
inline Batch even_batch() {
  const std::vector<int64_t> lengths(64, 14);
  return make_batch(lengths, lengths);
}

/// The same number of tokens as a sorted window of captions gives them: lengths differ by a few.
inline Batch mixed_batch() {
  std::vector<int64_t> source, target;
  for (int64_t i = 0; i < 64; ++i) {
    source.push_back(12 + i % 5);
    target.push_back(12 + i * 7 % 5);
  }
  return make_batch(source, target);
}

/// Floating-point operations of the matrix products of one training step on this batch, forward and
/// twice as many backward; real tokens only, and nothing but products (no gates, no attention
/// energies, no softmax). The context's part is counted as the equations have it, one product a
/// target token.
inline double product_flops(const ModelConfig& c, const Batch& batch) {
  const auto source = static_cast<double>(batch.source.packed.tokens);
  const auto target = static_cast<double>(batch.target.packed.tokens);
  const auto sentences = static_cast<double>(batch.source.packed.sentences());
  const auto e = static_cast<double>(c.embed), h = static_cast<double>(c.hidden);
  const auto a = static_cast<double>(c.attention), v = static_cast<double>(kVocab);
  const double width = c.decoder.readout == Readout::kMaxout ? 2 * e : e;
  const double encoder = source * 2 * (e * 3 * h + h * 3 * h);
  const double keys = source * 2 * h * a, start = sentences * h * h;
  const bool conditional = c.decoder.kind == DecoderKind::kConditional;
  const double gates = e * 3 * h + 2 * h * 3 * h + h * 3 * h * (conditional ? 2 : 1);
  const double decoder = target * (gates + h * a + (h + e + 2 * h) * width + e * v);
  return 3 * 2 * (encoder + keys + start + decoder);
}

}  // namespace verso::bench
