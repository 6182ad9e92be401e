#include "nn/blas.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/text.h"
#include "nn/torch_api.h"

namespace verso {

namespace {

/// Below this rate for each thread something is wrong on any CPU of the last ten years: reference
/// BLAS makes 2 to 3, an SSE kernel of OpenBLAS about 20, the right ones 50 and more.
constexpr double kSlowPerThread = 10.0;

template <class Function>
Function find_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

std::vector<std::string> mapped_blas() {
  std::set<std::string> files;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t slash = line.find('/');
    if (slash == std::string::npos) continue;
    const std::string path = line.substr(slash);
    const std::string name = path.substr(path.rfind('/') + 1);
    for (const char* known : {"libblas.", "libopenblas", "libblis", "libmkl_", "libatlas"}) {
      if (name.starts_with(known)) files.insert(path);
    }
  }
  return {files.begin(), files.end()};
}

bool has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool has_avx512() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

}  // namespace

BlasInfo blas_info() {
  BlasInfo info;
  info.libraries = mapped_blas();
  if (const auto core = find_symbol<const char* (*)()>("openblas_get_corename")) {
    info.openblas_core = core();
  }
  if (const auto config = find_symbol<const char* (*)()>("openblas_get_config")) {
    info.openblas_config = config();
  }
  constexpr int kOpenMp = 2;  // 0 sequential, 1 threads of its own
  if (const auto parallel = find_symbol<int (*)()>("openblas_get_parallel")) {
    info.openblas_openmp = parallel() == kOpenMp;
  }
  return info;
}

std::string better_openblas_core(const BlasInfo& info) {
  static const std::set<std::string> avx512 = {"SkylakeX", "Cooperlake", "SapphireRapids"};
  static const std::set<std::string> avx2 = {"Haswell", "Zen", "SkylakeX", "Cooperlake",
                                             "SapphireRapids"};
  if (info.openblas_core.empty()) return {};
  if (has_avx512() && !avx512.contains(info.openblas_core)) return "SKYLAKEX";
  if (has_avx2() && !avx2.contains(info.openblas_core)) return "HASWELL";
  return {};
}

void choose_blas_kernel(char** argv) {
  constexpr const char* kCore = "OPENBLAS_CORETYPE";
  if (std::getenv(kCore) != nullptr) return;
  const std::string better = better_openblas_core(blas_info());
  if (better.empty() || setenv(kCore, better.c_str(), 1) != 0) return;
  // Coming back means that the program could not be found; then it goes on as it is.
  execv("/proc/self/exe", argv);
}

double measure_sgemm(std::int64_t n, double seconds) {
  using Clock = std::chrono::steady_clock;
  torch::NoGradGuard no_grad;
  const Tensor a = torch::full({n, n}, 0.5F), b = torch::full({n, n}, 0.25F);
  Tensor c = torch::empty({n, n});
  at::mm_out(c, a, b);  // first touch
  const double work =
      2.0 * static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n);
  double best = 0;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    at::mm_out(c, a, b);
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best, work / took * 1e-9);
  } while (std::chrono::duration<double>(Clock::now() - begin).count() < seconds);
  return best;
}

std::vector<std::string> speed_problems() {
  std::vector<std::string> problems;
  const BlasInfo info = blas_info();
  const std::string core = better_openblas_core(info);
  if (!core.empty()) {
    problems.push_back(cat("OpenBLAS picked its kernel \"", info.openblas_core,
                           "\", older than this CPU; set OPENBLAS_CORETYPE=", core));
  }
  if (!info.openblas_core.empty() && !info.openblas_openmp) {
    problems.emplace_back(
        "OpenBLAS runs threads of its own, which fight LibTorch's; install its OpenMP variant "
        "(Debian, Ubuntu: libopenblas0-openmp) and build again");
  }
  const double rate = measure_sgemm(512, 0.1);
  const double per_thread = rate / at::get_num_threads();
  if (per_thread < kSlowPerThread) {
    problems.push_back(cat(
        "matrix products run at ", fixed(rate, 1), " GFLOP/s (", at::get_num_threads(),
        at::get_num_threads() == 1 ? " thread" : " threads",
        "), a small part of what a CPU can do: the machine is busy, or the BLAS library is slow ",
        "(Debian, Ubuntu: install libopenblas0-openmp and build again); see verso doctor"));
  }
  return problems;
}

}  // namespace verso
