#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "model/seq2seq.h"
#include "nn/trace.h"

namespace verso {

/// A network while it is studied: generic kernels, evaluation mode; afterwards as it was before.
class Studied {
 public:
  explicit Studied(Seq2Seq& network);
  ~Studied();
  Studied(const Studied&) = delete;
  Studied& operator=(const Studied&) = delete;

  /// A parameter by its name in a checkpoint, e.g. "decoder.attention.energy".
  [[nodiscard]] Tensor parameter(const std::string& name) const { return parameters_.at(name); }
  [[nodiscard]] Seq2SeqImpl& network() const { return *network_; }

 private:
  Seq2Seq& network_;
  bool training_;
  Kernels kernels_;
  std::map<std::string, Tensor> parameters_;
};

/// One pair in a batch of its own.
struct StudiedPair {
  SourceBatch source;
  TargetBatch target;
  StudiedPair(const Studied& studied, std::span<const std::int32_t> source_ids,
              std::span<const std::int32_t> target_ids);
  /// L of train/attention_gradients.h, a scalar.
  [[nodiscard]] Tensor loss(const Studied& studied, Trace& trace) const;
};

}  // namespace verso
