#include "model/batch.h"

#include <algorithm>

#include "base/error.h"
#include "data/vocabulary.h"

namespace verso {

namespace {

using Sentences = std::vector<std::span<const std::int32_t>>;

/// Every sentence has one more token than ids: its end symbol.
Packed pack(const Sentences& sentences) {
  if (sentences.empty()) throw ShapeError("a batch without sentences");
  std::vector<int64_t> lengths;
  for (const auto& sentence : sentences) {
    lengths.push_back(static_cast<int64_t>(sentence.size()) + 1);
  }
  return Packed(std::move(lengths));
}

Tensor padded_positions(const Packed& packed) {
  Tensor positions = torch::empty({packed.tokens}, torch::kInt64);
  auto* position = positions.data_ptr<int64_t>();
  for (int64_t row = 0; row < packed.sentences(); ++row) {
    for (int64_t j = 0; j < packed.lengths[static_cast<std::size_t>(row)]; ++j) {
      *position++ = row * packed.longest + j;
    }
  }
  return positions;
}

}  // namespace

SourceBatch make_source_batch(const Sentences& sentences, bool attend_end,
                              const torch::Device& device) {
  SourceBatch batch;
  batch.packed = pack(sentences);
  const int64_t rows = batch.packed.sentences(), len = batch.packed.longest;
  Tensor ids = torch::empty({batch.packed.tokens}, torch::kInt64);
  Tensor mask = torch::zeros({rows, len}, torch::kBool);
  auto* id = ids.data_ptr<int64_t>();
  auto* seen = mask.data_ptr<bool>();
  for (const auto& sentence : sentences) {
    if (sentence.empty() && !attend_end) {
      throw ShapeError("an empty sentence gives attention nothing to see without its end symbol");
    }
    id = std::copy(sentence.begin(), sentence.end(), id);
    *id++ = kEndId;
    const std::size_t attended = sentence.size() + (attend_end ? 1 : 0);
    std::fill_n(seen, attended, true);
    seen += len;
    batch.attended.push_back(static_cast<int64_t>(attended));
  }
  batch.ids = ids.to(device);
  batch.mask = mask.to(device);
  batch.positions = padded_positions(batch.packed).to(device);
  return batch;
}

TargetBatch make_target_batch(const Sentences& sentences, const torch::Device& device) {
  TargetBatch batch;
  batch.packed = pack(sentences);
  Tensor input = torch::empty({batch.packed.tokens}, torch::kInt64);
  Tensor output = torch::empty({batch.packed.tokens}, torch::kInt64);
  auto* in = input.data_ptr<int64_t>();
  auto* out = output.data_ptr<int64_t>();
  for (const auto& sentence : sentences) {
    *in++ = kBeginId;
    in = std::copy(sentence.begin(), sentence.end(), in);
    out = std::copy(sentence.begin(), sentence.end(), out);
    *out++ = kEndId;
  }
  batch.input = input.to(device);
  batch.output = output.to(device);
  batch.positions = padded_positions(batch.packed).to(device);
  return batch;
}

Tensor pad(const Tensor& tokens, const Packed& packed, const Tensor& positions) {
  const int64_t rows = packed.sentences(), len = packed.longest, width = tokens.size(1);
  return torch::zeros({rows * len, width}, tokens.options().requires_grad(false))
      .index_copy(0, positions, tokens)
      .view({rows, len, width});
}

Tensor unpad(const Tensor& padded, const Tensor& positions) {
  return padded.flatten(0, 1).index_select(0, positions);
}

}  // namespace verso
