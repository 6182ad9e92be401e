#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <omp.h>
#include <torch/cuda.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "base/text.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/standard_streams.h"
#include "nn/blas.h"
#include "nn/runtime.h"

namespace verso {

namespace {

void row(const std::string& name, const std::string& value) {
  write_out(cat(name, std::string(name.size() < 18 ? 18 - name.size() : 1, ' '), value, "\n"));
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

/// Threads that LibTorch's loops really run on: our code without OpenMP silently gets one.
int threads_used() {
  std::atomic<int> most{0};
  at::parallel_for(0, at::get_num_threads() * 1000, 1, [&](int64_t, int64_t) {
    const int seen = omp_in_parallel() != 0 ? omp_get_num_threads() : 1;
    int before = most;
    while (seen > before && !most.compare_exchange_weak(before, seen)) {
    }
  });
  return most;
}

/// LibTorch's own kernels: "AVX2" and the like, from its description of itself.
std::string cpu_capability() {
  const std::string text = at::show_config(), key = "CPU capability usage: ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "unknown";
  return text.substr(at + key.size(), text.find('\n', at) - at - key.size());
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "not set";
}

void print_cuda() {
  if (!at::hasCUDA()) {
    row("CUDA", "this LibTorch is built without it");
  } else if (!torch::cuda::is_available()) {
    row("CUDA", "built in, but no device is seen (driver, CUDA_VISIBLE_DEVICES)");
  } else {
    row("CUDA", cat(torch::cuda::device_count(), " device(s)"));
  }
}

int run_doctor(std::int64_t threads) {
  const std::int64_t set = set_threads(threads);
  row("verso", kVersion);
  row("LibTorch", TORCH_VERSION);
  row("CPU", cpu_name());
  row("vector units", cpu_capability());
  row("physical cores", cat(physical_cores()));
  row("threads", cat(set, " set, ", threads_used(), " used by LibTorch's loops"));
  row("wait policy", cat("OMP_WAIT_POLICY ", environment("OMP_WAIT_POLICY"), ", GOMP_SPINCOUNT ",
                         environment("GOMP_SPINCOUNT")));
  const BlasInfo blas = blas_info();
  for (const std::string& library : blas.libraries) row("BLAS", library);
  if (blas.libraries.empty()) row("BLAS", "inside LibTorch");
  if (!blas.openblas_core.empty()) {
    row("OpenBLAS", cat(blas.openblas_config, "; kernel ", blas.openblas_core));
  }
  print_cuda();
  const double all = measure_sgemm(1024, 0.5);
  set_threads(1);
  const double one = measure_sgemm(1024, 0.5);
  set_threads(set);
  row("matrix products",
      cat(fixed(one, 1), " GFLOP/s with one thread, ", fixed(all, 1), " with ", set));
  auto problems = speed_problems();
  if (set > 1 && all < 1.3 * one) {
    problems.push_back(cat("more threads bring little (", fixed(all / one, 2),
                           " times one thread): the machine is busy, or its cores are shared"));
  }
  for (const std::string& problem : problems) row("to mend", problem);
  if (problems.empty()) row("to mend", "nothing");
  return 0;
}

}  // namespace

void setup_doctor(CLI::App& command, CommandRun& run) {
  const auto threads = std::make_shared<std::int64_t>(0);
  command.add_option("--threads", *threads, "CPU threads; 0 = physical cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  run = [threads] { return run_doctor(*threads); };
}

}  // namespace verso
