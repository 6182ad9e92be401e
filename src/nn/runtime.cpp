#include "nn/runtime.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <omp.h>
#include <sched.h>
#include <torch/cuda.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace verso {

namespace {

/// CPUs of a cgroup v2 quota ("max 100000" or "150000 100000"), rounded up; 0 = no quota.
int64_t quota_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(std::atof(quota.c_str()) / period)));
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

int64_t physical_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 1;
  std::set<std::string> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    const std::string topology = cat("/sys/devices/system/cpu/cpu", cpu, "/topology/");
    std::string siblings = first_line(topology + "thread_siblings_list");
    if (siblings.empty()) siblings = cat("cpu", cpu);
    cores.insert(siblings);
  }
  int64_t count = std::max<int64_t>(1, static_cast<int64_t>(cores.size()));
  if (const int64_t quota = quota_cpus(); quota > 0) count = std::min(count, quota);
  return count;
}

int64_t set_threads(int64_t threads) {
  if (threads <= 0) {
    const char* wanted = std::getenv("OMP_NUM_THREADS");
    threads = wanted != nullptr ? std::atoll(wanted) : 0;
  }
  if (threads <= 0) threads = physical_cores();
  omp_set_num_threads(static_cast<int>(threads));
  at::set_num_threads(static_cast<int>(threads));
  return threads;
}

torch::Device choose_device(Device device) {
  if (device == Device::kCpu) return torch::Device(torch::kCPU);
  if (torch::cuda::is_available()) return torch::Device(torch::kCUDA, 0);
  if (device == Device::kAuto) return torch::Device(torch::kCPU);
  throw UsageError(cat("device \"cuda\" was asked for, but ",
                       at::hasCUDA() ? "LibTorch sees no CUDA device (is the driver loaded, is "
                                       "CUDA_VISIBLE_DEVICES set to nothing?)"
                                     : "this build's LibTorch has no CUDA",
                       "; use device \"cpu\" or \"auto\""));
}

void seed_generators(std::uint64_t seed) { torch::manual_seed(seed); }

Tensor generator_state(const torch::Device& device) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  return generator.get_state();
}

void set_generator_state(const torch::Device& device, const Tensor& state) {
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_state(state);
}

bool is_out_of_memory(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return true;
  const std::string text = error.what();
  for (const char* sign : {"not enough memory", "out of memory", "can't allocate memory"}) {
    if (text.find(sign) != std::string::npos) return true;
  }
  return false;
}

}  // namespace verso
