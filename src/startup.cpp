// What must be decided before LibTorch, OpenMP and BLAS start.
//
// OpenMP reads its environment when its library is loaded, before main. Left alone, its threads
// spin at every barrier; when another process takes one of their cores, each barrier waits for a
// whole time slice and training falls to a tenth. So the program gives OpenMP a short spin, by
// starting itself again with the environment it needs. .preinit_array runs before any library's own
// start, so that this costs next to nothing. What the user has set is respected.

#include <unistd.h>

#include <cstddef>

namespace {

constexpr const char* kSpin = "GOMP_SPINCOUNT=20000";
constexpr const char* kDone = "VERSO_STARTED=1";

// No library is initialised yet: plain loops and system calls only, and no sanitizer.
#define VERSO_BARE __attribute__((no_sanitize("address", "undefined", "thread")))

VERSO_BARE bool names(const char* entry, const char* setting) {
  std::size_t i = 0;
  while (setting[i] != '=' && entry[i] == setting[i]) ++i;
  return setting[i] == '=' && entry[i] == '=';
}

VERSO_BARE void start_again(int, char** argv, char** envp) {
  constexpr const char* kOthers[] = {"OMP_WAIT_POLICY=", "GOMP_SPINCOUNT=", kDone};
  std::size_t count = 0;
  for (; envp[count] != nullptr; ++count) {
    for (const char* other : kOthers) {
      if (names(envp[count], other)) return;
    }
  }
  constexpr std::size_t kMost = 4096;
  if (count + 3 > kMost) return;
  char* with[kMost];
  for (std::size_t i = 0; i < count; ++i) with[i] = envp[i];
  with[count] = const_cast<char*>(kSpin);
  with[count + 1] = const_cast<char*>(kDone);
  with[count + 2] = nullptr;
  // The program's own path keeps its name in process lists. Coming back means that neither way
  // works (no /proc): then the program goes on as it is.
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
  if (length > 0) {
    path[length] = '\0';
    execve(path, argv, with);
  }
  execve("/proc/self/exe", argv, with);
}

using Start = void (*)(int, char**, char**);
[[gnu::section(".preinit_array"), gnu::used]] const Start kStart = start_again;

}  // namespace
