#include "nn/dropout.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <limits>

namespace verso {

namespace {

/// splitmix64 (Steele, Lea and Flood 2014) at place `i` of the stream `key`.
std::uint64_t random_bits(std::uint64_t key, std::uint64_t i) {
  std::uint64_t x = key + (i + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

}  // namespace

Tensor dropout_mask(double p, int64_t rows, int64_t width, const torch::TensorOptions& options) {
  if (p == 0.0) return {};
  const torch::NoGradGuard no_grad;
  const auto plain = options.requires_grad(false);
  if (!plain.device().is_cpu()) {
    return torch::empty({rows, width}, plain).bernoulli_(1 - p).div_(1 - p);
  }
  const auto key = static_cast<std::uint64_t>(
      torch::randint(std::numeric_limits<int64_t>::max(), {1}, torch::kInt64).item<int64_t>());
  Tensor mask = torch::empty({rows, width}, plain.dtype(torch::kFloat));
  auto* const values = mask.data_ptr<float>();
  // Two entries of 32 bits from each number.
  const auto limit = static_cast<std::uint32_t>(std::ldexp(p, 32));
  const auto kept = static_cast<float>(1 / (1 - p));
  const int64_t count = mask.numel();
  constexpr int64_t kBlock = 1 << 13;
  at::parallel_for(0, (count + 1) / 2, kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t pair = begin; pair < end; ++pair) {
      const std::uint64_t bits = random_bits(key, static_cast<std::uint64_t>(pair));
      values[2 * pair] = static_cast<std::uint32_t>(bits) < limit ? 0.0F : kept;
      if (2 * pair + 1 < count) {
        values[2 * pair + 1] = static_cast<std::uint32_t>(bits >> 32) < limit ? 0.0F : kept;
      }
    }
  });
  return mask.to(plain.dtype());
}

Tensor dropout(const Tensor& x, double p) {
  return p == 0.0 ? x : x * dropout_mask(p, x.size(0), x.size(1), x.options());
}

}  // namespace verso
