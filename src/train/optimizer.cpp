#include "train/optimizer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "nn/row_kernels.h"

namespace verso {

namespace {

constexpr double kLargestFloat = std::numeric_limits<float>::max();
constexpr int64_t kBlock = 1 << 15;

bool is_adam(Optimizer optimizer) {
  return optimizer == Optimizer::kAdam || optimizer == Optimizer::kAdamW;
}

}  // namespace

ParameterUpdater::ParameterUpdater(const torch::nn::Module& network, const TrainingConfig& config,
                                   bool fused)
    : config_(config), fused_(fused) {
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
  const torch::NoGradGuard no_grad;
  ++steps_;
  const double correct1 = 1 - std::pow(config_.beta1, static_cast<double>(steps_));
  const double correct2 = 1 - std::pow(config_.beta2, static_cast<double>(steps_));
  if (fused_ && is_adam(config_.optimizer)) {
    step_fused(rate, scale, correct1, correct2);
  } else {
    step_generic(rate, scale, correct1, correct2);
  }
}

std::vector<ParameterUpdater::Block> ParameterUpdater::blocks() const {
  std::vector<Block> parts;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (!slots_[i].parameter.grad().defined()) continue;
    const int64_t count = slots_[i].parameter.numel();
    for (int64_t first = 0; first < count; first += kBlock) {
      parts.push_back({i, first, std::min(kBlock, count - first)});
    }
  }
  return parts;
}

void ParameterUpdater::step_fused(double rate, double scale, double correct1, double correct2) {
  AdamStep step{};
  step.beta1 = static_cast<float>(config_.beta1);
  step.beta2 = static_cast<float>(config_.beta2);
  step.epsilon = static_cast<float>(config_.epsilon);
  step.scale = static_cast<float>(scale);
  // A rate that float cannot hold is no reason to crash: what it does to the loss is noticed.
  step.rate = static_cast<float>(std::min(rate / correct1, kLargestFloat));
  step.root = static_cast<float>(1 / std::sqrt(correct2));
  const bool decoupled = config_.optimizer == Optimizer::kAdamW;
  step.decay = decoupled ? 0.0F : static_cast<float>(config_.weight_decay);
  step.keep = decoupled ? static_cast<float>(1 - rate * config_.weight_decay) : 1.0F;
  std::vector<Tensor> gradients;
  for (const Slot& slot : slots_) {
    const Tensor& gradient = slot.parameter.grad();
    gradients.push_back(gradient.defined() ? gradient.contiguous() : gradient);
  }
  const std::vector<Block> parts = blocks();
  at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Block& part = parts[static_cast<std::size_t>(i)];
      const Slot& slot = slots_[part.slot];
      adam_rows(part.count, step, gradients[part.slot].data_ptr<float>() + part.first,
                slot.parameter.data_ptr<float>() + part.first,
                slot.first.data_ptr<float>() + part.first,
                slot.second.data_ptr<float>() + part.first);
    }
  });
}

void ParameterUpdater::step_generic(double rate, double scale, double correct1, double correct2) {
  const double b1 = config_.beta1, b2 = config_.beta2;
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
  const torch::NoGradGuard no_grad;
  if (fused_) {
    std::vector<Tensor> gradients;
    for (const Slot& slot : slots_) {
      const Tensor& gradient = slot.parameter.grad();
      gradients.push_back(gradient.defined() ? gradient.contiguous() : gradient);
    }
    const std::vector<Block> parts = blocks();
    std::vector<double> sums(parts.size());
    at::parallel_for(0, static_cast<int64_t>(parts.size()), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Block& part = parts[static_cast<std::size_t>(i)];
        sums[static_cast<std::size_t>(i)] =
            sum_of_squares(part.count, gradients[part.slot].data_ptr<float>() + part.first);
      }
    });
    return std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
  }
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
