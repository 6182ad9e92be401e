#pragma once

#include <cstddef>
#include <cstdint>

namespace verso {

/// Memory of CPU tensors, kept when a tensor ends and given to the next of about its size: fresh
/// pages from the system cost more than much of the arithmetic on them. Sizes are rounded up by an
/// eighth at most, and a buffer serves requests down to half its size. As many bytes are kept as
/// were ever in use at once (64 MiB at least), the rest goes back.
/// Installed for the process by the first call with true; with false LibTorch's allocator works
/// alone again. Tensors may outlive either change. Safe from all threads.
void use_buffer_cache(bool wanted);

struct BufferCacheCounts {
  std::int64_t requests = 0;  ///< buffers asked for
  std::int64_t fresh = 0;     ///< of these, taken from the system
  std::size_t in_use = 0;     ///< bytes
  std::size_t kept = 0;       ///< bytes waiting for their next use
};
/// Since the process began.
[[nodiscard]] BufferCacheCounts buffer_cache_counts();

}  // namespace verso
