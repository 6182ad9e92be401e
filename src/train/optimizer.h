#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.h"
#include "nn/torch_api.h"

namespace verso {

/// Changes parameters by their gradients g (times `scale`, the clip factor), step count k from 1:
///   adam      m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g²                (Kingma and Ba 2015)
///             p -= rate * (m / (1-b1^k)) / (sqrt(v / (1-b2^k)) + eps);  g includes decay * p
///   adamw     the same, decay apart: p -= rate * decay * p             (Loshchilov, Hutter 2019)
///   adadelta  v = rho v + (1-rho) g²;  d = sqrt(u + eps) / sqrt(v + eps) * g;
///             u = rho u + (1-rho) d²;  p -= rate * d                    (Zeiler 2012), rho = b2
///   sgd       p -= rate * g
/// Parameters without a gradient are left alone.
class ParameterUpdater {
 public:
  /// `fused`: norm and adam(w) in one pass over memory each, on all threads (CPU, float); else by
  /// ATen operations in the order of the equations. The same to rounding.
  ParameterUpdater(const torch::nn::Module& network, const TrainingConfig& config, bool fused);

  void step(double rate, double scale);
  void zero_grad();
  /// Norm of all gradients as one vector.
  [[nodiscard]] double gradient_norm() const;

  /// Moments by "first.<parameter>" and "second.<parameter>", and the step count.
  [[nodiscard]] std::map<std::string, Tensor> state() const;
  [[nodiscard]] int64_t steps() const { return steps_; }
  /// Throws CheckpointError when tensors are missing or of the wrong shape.
  void set_state(const std::map<std::string, Tensor>& state, int64_t steps);

 private:
  struct Slot {
    std::string name;
    Tensor parameter, first, second;
  };
  /// A part of a parameter, for one thread at a time.
  struct Block {
    std::size_t slot;
    int64_t first, count;
  };
  [[nodiscard]] std::vector<Block> blocks() const;
  void step_fused(double rate, double scale, double correct1, double correct2);
  void step_generic(double rate, double scale, double correct1, double correct2);

  TrainingConfig config_;
  bool fused_;
  std::vector<Slot> slots_;
  int64_t steps_ = 0;
};

}  // namespace verso
