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
/// State is made at the first step. Parameters without a gradient are left alone.
class ParameterUpdater {
 public:
  ParameterUpdater(const torch::nn::Module& network, const TrainingConfig& config);

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
  TrainingConfig config_;
  std::vector<Slot> slots_;
  int64_t steps_ = 0;
};

}  // namespace verso
