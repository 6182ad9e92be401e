#include "nn/buffer_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "nn/torch_api.h"

namespace verso {

namespace {

constexpr std::size_t kHeader = 64;                      // LibTorch's alignment
constexpr std::size_t kAtLeast = std::size_t{64} << 20;  // bytes kept in any case

/// Eight sizes between a power of two and the next.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(kHeader, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

class BufferCache {
 public:
  explicit BufferCache(at::Allocator* system) : system_(system) {}

  void* take(std::size_t bytes) {
    const std::size_t size = rounded(std::max<std::size_t>(bytes, 1));
    {
      const std::lock_guard lock(mutex_);
      ++counts_.requests;
      if (void* const base = fitting(size)) return static_cast<char*>(base) + kHeader;
      ++counts_.fresh;
      use(size);
    }
    void* base = nullptr;
    try {
      base = system_->raw_allocate(size + kHeader);
    } catch (...) {
      // What waits here may be what is missing there.
      release();
      try {
        base = system_->raw_allocate(size + kHeader);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        counts_.in_use -= size;
        throw;
      }
    }
    std::memcpy(base, &size, sizeof size);
    return static_cast<char*>(base) + kHeader;
  }

  void give(void* data) {
    void* const base = static_cast<char*>(data) - kHeader;
    std::size_t size = 0;
    std::memcpy(&size, base, sizeof size);
    {
      const std::lock_guard lock(mutex_);
      counts_.in_use -= size;
      if (wanted_ && counts_.kept + size <= std::max(most_, kAtLeast)) {
        waiting_[size].push_back(base);
        counts_.kept += size;
        return;
      }
    }
    system_->raw_deallocate(base);
  }

  void want(bool wanted) {
    {
      const std::lock_guard lock(mutex_);
      wanted_ = wanted;
    }
    if (!wanted) release();
  }

  BufferCacheCounts counts() {
    const std::lock_guard lock(mutex_);
    return counts_;
  }

 private:
  void use(std::size_t size) {
    counts_.in_use += size;
    most_ = std::max(most_, counts_.in_use);
  }

  /// A waiting buffer of `size` bytes or up to twice as many, so that batches of many shapes share
  /// a few; null when there is none.
  void* fitting(std::size_t size) {
    for (auto at = waiting_.lower_bound(size); at != waiting_.end() && at->first <= 2 * size;
         ++at) {
      if (at->second.empty()) continue;
      void* const base = at->second.back();
      at->second.pop_back();
      counts_.kept -= at->first;
      use(at->first);
      return base;
    }
    return nullptr;
  }

  void release() {
    std::map<std::size_t, std::vector<void*>> waiting;
    {
      const std::lock_guard lock(mutex_);
      waiting.swap(waiting_);
      counts_.kept = 0;
    }
    for (auto& [size, bases] : waiting) {
      for (void* base : bases) system_->raw_deallocate(base);
    }
  }

  at::Allocator* system_;
  std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> waiting_;
  BufferCacheCounts counts_;
  std::size_t most_ = 0;
  bool wanted_ = false;
};

/// Never destroyed: tensors may end after it.
BufferCache& cache() {
  static BufferCache* const the_cache = new BufferCache(c10::GetCPUAllocator());
  return *the_cache;
}

void give_back(void* data) {
  if (data != nullptr) cache().give(data);
}

class CachingAllocator : public PlainAllocator {
 public:
  at::DataPtr allocate_bytes(std::size_t bytes) const override {
    if (bytes == 0) return {nullptr, nullptr, &give_back, torch::kCPU};
    void* const data = cache().take(bytes);
    return {data, data, &give_back, torch::kCPU};
  }
  at::DeleterFnPtr raw_deleter() const override { return &give_back; }
};

}  // namespace

void use_buffer_cache(bool wanted) {
  static CachingAllocator allocator;
  static std::once_flag installed;
  cache().want(wanted);
  if (wanted) std::call_once(installed, [] { c10::SetCPUAllocator(&allocator, 100); });
}

BufferCacheCounts buffer_cache_counts() { return cache().counts(); }

}  // namespace verso
