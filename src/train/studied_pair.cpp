#include "train/studied_pair.h"

namespace verso {

Studied::Studied(Seq2Seq& network)
    : network_(network), training_(network->is_training()), kernels_(network->spec().kernels) {
  network_->use_kernels(Kernels::kGeneric);
  network_->eval();
  for (const auto& item : network_->named_parameters()) parameters_[item.key()] = item.value();
}

Studied::~Studied() {
  network_->use_kernels(kernels_);
  network_->train(training_);
}

StudiedPair::StudiedPair(const Studied& studied, std::span<const std::int32_t> source_ids,
                         std::span<const std::int32_t> target_ids)
    : source(make_source_batch({source_ids}, studied.network().spec().model.attend_end,
                               studied.network().device())),
      target(make_target_batch({target_ids}, studied.network().device())) {}

Tensor StudiedPair::loss(const Studied& studied, Trace& trace) const {
  const DecoderOutput output = studied.network().forward(source, target, &trace);
  return cross_entropy(studied.network(), output.readout, target, 0.0).objective;
}

}  // namespace verso
