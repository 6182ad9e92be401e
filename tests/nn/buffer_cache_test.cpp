#include "nn/buffer_cache.h"

#include <gtest/gtest.h>

#include <thread>

#include "nn/torch_api.h"

namespace verso {
namespace {

class BufferCacheOn : public testing::Test {
 protected:
  BufferCacheOn() { use_buffer_cache(true); }
  ~BufferCacheOn() override { use_buffer_cache(false); }
};

TEST_F(BufferCacheOn, ASecondTensorOfTheSizeTakesTheFirstOnesMemory) {
  { const Tensor first = torch::empty({1000, 333}); }
  const BufferCacheCounts before = buffer_cache_counts();
  { const Tensor second = torch::ones({1000, 333}); }
  const BufferCacheCounts after = buffer_cache_counts();
  EXPECT_GT(after.requests, before.requests);
  EXPECT_EQ(after.fresh, before.fresh);
}

TEST_F(BufferCacheOn, KeepsNoMoreThanItSays) {
  // 400 MiB in all, of which one buffer is in use at a time.
  int64_t floats = int64_t{1} << 18;
  for (int64_t i = 0; i < 40; ++i, floats += floats / 16) {
    const Tensor one = torch::empty({floats});
  }
  EXPECT_LE(buffer_cache_counts().kept, std::size_t{64} << 20);
}

TEST_F(BufferCacheOn, TensorsOutliveIt) {
  const Tensor early = torch::ones({100000});
  use_buffer_cache(false);
  const Tensor late = torch::ones({100000});
  EXPECT_EQ((early + late).sum().item<double>(), 200000.0);
  EXPECT_EQ(buffer_cache_counts().kept, 0U);
}

TEST_F(BufferCacheOn, ThreadsMayShareIt) {
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int64_t i = 0; i < 200; ++i) {
        const Tensor x = torch::full({50 + i, 64}, static_cast<float>(t));
        EXPECT_EQ(x.min().item<float>(), static_cast<float>(t));
        EXPECT_EQ(x.max().item<float>(), static_cast<float>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(BufferCacheOn, WhatTheSystemRefusesIsAnError) {
  EXPECT_ANY_THROW((void)torch::empty({int64_t{1} << 50}));
  EXPECT_EQ(torch::ones({10}).sum().item<double>(), 10.0);
}

}  // namespace
}  // namespace verso
