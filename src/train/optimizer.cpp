#include "train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {
constexpr double kLargestFloat = std::numeric_limits<float>::max();
}

ParameterUpdater::ParameterUpdater(const torch::nn::Module& network, const TrainingConfig& config)
    : config_(config) {
  const bool has_second = config.optimizer != Optimizer::kSgd;
  for (const auto& item : network.named_parameters()) {
    Slot slot{item.key(), item.value(), {}, {}};
    if (has_second) {
      slot.first = torch::zeros_like(slot.parameter).set_requires_grad(false);
      slot.second = torch::zeros_like(slot.parameter).set_requires_grad(false);
    }
    slots_.push_back(slot);
  }
}

void ParameterUpdater::step(double rate, double scale) {
  torch::NoGradGuard no_grad;
  ++steps_;
  const double b1 = config_.beta1, b2 = config_.beta2;
  const double correct1 = 1 - std::pow(b1, static_cast<double>(steps_));
  const double correct2 = 1 - std::pow(b2, static_cast<double>(steps_));
  const bool decoupled = config_.optimizer == Optimizer::kAdamW;
  for (Slot& slot : slots_) {
    Tensor& p = slot.parameter;
    if (!p.grad().defined()) continue;
    Tensor g = scale == 1.0 ? p.grad() : p.grad() * scale;
    if (config_.weight_decay > 0) {
      if (decoupled) {
        p.mul_(1 - rate * config_.weight_decay);
      } else {
        g = g.add(p, config_.weight_decay);
      }
    }
    switch (config_.optimizer) {
      case Optimizer::kAdam:
      case Optimizer::kAdamW: {
        slot.first.mul_(b1).add_(g, 1 - b1);
        slot.second.mul_(b2).addcmul_(g, g, 1 - b2);
        const Tensor root = slot.second.sqrt().div_(std::sqrt(correct2)).add_(config_.epsilon);
        // A rate that float cannot hold is no reason to crash: what it does to the loss is noticed.
        p.addcdiv_(slot.first, root, -std::min(rate / correct1, kLargestFloat));
        break;
      }
      case Optimizer::kAdadelta: {
        slot.second.mul_(b2).addcmul_(g, g, 1 - b2);
        const Tensor delta = slot.first.add(config_.epsilon)
                                 .sqrt_()
                                 .div_(slot.second.add(config_.epsilon).sqrt_())
                                 .mul_(g);
        slot.first.mul_(b2).addcmul_(delta, delta, 1 - b2);
        p.add_(delta, -rate);
        break;
      }
      case Optimizer::kSgd:
        p.add_(g, -rate);
        break;
    }
  }
}

void ParameterUpdater::zero_grad() {
  for (Slot& slot : slots_) slot.parameter.mutable_grad().reset();
}

double ParameterUpdater::gradient_norm() const {
  torch::NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Slot& slot : slots_) {
    if (slot.parameter.grad().defined()) norms.push_back(slot.parameter.grad().norm());
  }
  return norms.empty() ? 0.0 : at::stack(norms).to(torch::kFloat64).norm().item<double>();
}

std::map<std::string, Tensor> ParameterUpdater::state() const {
  std::map<std::string, Tensor> state;
  for (const Slot& slot : slots_) {
    if (!slot.first.defined()) continue;
    state["first." + slot.name] = slot.first;
    state["second." + slot.name] = slot.second;
  }
  return state;
}

void ParameterUpdater::set_state(const std::map<std::string, Tensor>& state, int64_t steps) {
  torch::NoGradGuard no_grad;
  for (Slot& slot : slots_) {
    if (!slot.first.defined()) continue;
    for (const auto& [prefix, moment] :
         {std::pair<const char*, Tensor*>{"first.", &slot.first}, {"second.", &slot.second}}) {
      const auto found = state.find(prefix + slot.name);
      if (found == state.end() || found->second.sizes() != moment->sizes()) {
        throw CheckpointError(cat("optimiser state \"", prefix, slot.name, "\" is ",
                                  found == state.end() ? "missing" : "of the wrong shape",
                                  "; expected shape ", moment->sizes()));
      }
      moment->copy_(found->second);
    }
  }
  steps_ = steps;
}

}  // namespace verso
