#include "model/batch.h"

#include <algorithm>

#include "base/error.h"
#include "data/vocabulary.h"

namespace verso {

namespace {

int64_t longest(const std::vector<std::span<const std::int32_t>>& sentences) {
  if (sentences.empty()) throw ShapeError("a batch without sentences");
  std::size_t most = 0;
  for (const auto& sentence : sentences) most = std::max(most, sentence.size());
  return static_cast<int64_t>(most) + 1;
}

}  // namespace

SourceBatch make_source_batch(const std::vector<std::span<const std::int32_t>>& sentences,
                              bool attend_end, const torch::Device& device) {
  const int64_t rows = static_cast<int64_t>(sentences.size()), len = longest(sentences);
  Tensor ids = torch::full({rows, len}, int64_t{kPadId}, torch::kInt64);
  Tensor mask = torch::zeros({rows, len}, torch::kBool);
  auto* id = ids.data_ptr<int64_t>();
  auto* seen = mask.data_ptr<bool>();
  SourceBatch batch;
  for (const auto& sentence : sentences) {
    if (sentence.empty() && !attend_end) {
      throw ShapeError("an empty sentence gives attention nothing to see without its end symbol");
    }
    std::copy(sentence.begin(), sentence.end(), id);
    id[sentence.size()] = kEndId;
    std::fill_n(seen, sentence.size() + (attend_end ? 1 : 0), true);
    id += len;
    seen += len;
    batch.lengths.push_back(static_cast<int64_t>(sentence.size()) + 1);
  }
  batch.ids = ids.to(device);
  batch.mask = mask.to(device);
  return batch;
}

TargetBatch make_target_batch(const std::vector<std::span<const std::int32_t>>& sentences,
                              const torch::Device& device) {
  const int64_t rows = static_cast<int64_t>(sentences.size()), len = longest(sentences);
  Tensor input = torch::full({rows, len}, int64_t{kPadId}, torch::kInt64);
  auto* in = input.data_ptr<int64_t>();
  std::vector<int64_t> output, positions;
  TargetBatch batch;
  for (int64_t row = 0; row < rows; ++row) {
    const auto& sentence = sentences[static_cast<std::size_t>(row)];
    in[row * len] = kBeginId;
    std::copy(sentence.begin(), sentence.end(), in + row * len + 1);
    for (std::size_t t = 0; t <= sentence.size(); ++t) {
      output.push_back(t < sentence.size() ? sentence[t] : kEndId);
      positions.push_back(row * len + static_cast<int64_t>(t));
    }
    batch.lengths.push_back(static_cast<int64_t>(sentence.size()) + 1);
  }
  batch.input = input.to(device);
  batch.output = torch::tensor(output, torch::kInt64).to(device);
  batch.positions = torch::tensor(positions, torch::kInt64).to(device);
  return batch;
}

}  // namespace verso
