#include "nn/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace verso {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// Floats of both signs from the smallest to the largest, every 1021st of all there are.
const std::vector<float>& floats() {
  static const std::vector<float> all = [] {
    std::vector<float> made;
    for (std::uint32_t bits = 0; bits < 0x7f800000U; bits += 1021) {
      made.push_back(std::bit_cast<float>(bits));
      made.push_back(-made.back());
    }
    return made;
  }();
  return all;
}

std::vector<float> computed(void (*function)(int64_t, const float*, float*),
                            const std::vector<float>& in) {
  std::vector<float> out(in.size());
  function(static_cast<int64_t>(in.size()), in.data(), out.data());
  return out;
}

/// Distance in units of the last place of `expected`.
double ulps(float got, double expected) {
  const auto nearest = static_cast<float>(expected);
  const double unit = static_cast<double>(std::nextafter(std::abs(nearest), kInfinity)) -
                      static_cast<double>(std::abs(nearest));
  return std::abs(static_cast<double>(got) - expected) / unit;
}

TEST(VectorMath, ExpIsWithinTwoUlpOverAllFloats) {
  const std::vector<float> out = computed(vector_exp, floats());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double expected = std::exp(static_cast<double>(floats()[i]));
    if (expected > static_cast<double>(std::numeric_limits<float>::max())) {
      ASSERT_GE(out[i], 3.4e38F) << floats()[i];
    } else if (expected < 1.3e-38) {
      ASSERT_LE(out[i], 1.3e-38F) << floats()[i];
      ASSERT_GE(out[i], 0.0F) << floats()[i];
    } else {
      ASSERT_LE(ulps(out[i], expected), 2.0) << floats()[i];
    }
  }
}

TEST(VectorMath, SigmoidIsWithinItsBoundOverAllFloats) {
  const std::vector<float> out = computed(vector_sigmoid, floats());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double x = static_cast<double>(floats()[i]), expected = 1 / (1 + std::exp(-x));
    if (x < -87.3) {
      ASSERT_LE(out[i], 2e-38F) << x;
      ASSERT_GE(out[i], 0.0F) << x;
    } else {
      ASSERT_LE(std::abs(static_cast<double>(out[i]) - expected), 2e-7 * expected) << x;
    }
  }
}

TEST(VectorMath, TanhIsWithinFourUlpOverAllFloats) {
  const std::vector<float> out = computed(vector_tanh, floats());
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_LE(ulps(out[i], std::tanh(static_cast<double>(floats()[i]))), 4.0) << floats()[i];
  }
}

TEST(VectorMath, InfinitiesGiveLimitsAndNanGivesNanAtEveryPlace) {
  // Lengths up to three vectors of the widest CPUs, so that whole and partial vectors see each.
  for (std::size_t length = 1; length <= 48; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      const auto at = [&](void (*function)(int64_t, const float*, float*), float value) {
        std::vector<float> in(length, 0.5F);
        in[place] = value;
        const std::vector<float> out = computed(function, in);
        const float usual = computed(function, {0.5F})[0];
        for (std::size_t i = 0; i < length; ++i) {
          if (i == place) continue;
          EXPECT_EQ(out[i], usual);
        }
        return out[place];
      };
      EXPECT_TRUE(std::isnan(at(vector_exp, kNan)));
      EXPECT_TRUE(std::isnan(at(vector_sigmoid, kNan)));
      EXPECT_TRUE(std::isnan(at(vector_tanh, kNan)));
      EXPECT_EQ(at(vector_exp, kInfinity), kInfinity);
      EXPECT_EQ(at(vector_exp, -kInfinity), 0.0F);
      EXPECT_EQ(at(vector_sigmoid, kInfinity), 1.0F);
      EXPECT_LE(at(vector_sigmoid, -kInfinity), 2e-38F);
      EXPECT_EQ(at(vector_tanh, kInfinity), 1.0F);
      EXPECT_EQ(at(vector_tanh, -kInfinity), -1.0F);
    }
  }
}

}  // namespace
}  // namespace verso
