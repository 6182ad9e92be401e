// What must be decided before LibTorch, OpenMP and BLAS start.

#include <unistd.h>

#include <cstring>

namespace {

constexpr const char* kSpin = "20000";

const char* find_variable(const char* name) {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') {
      return *entry + length + 1;
    }
  }
  return nullptr;
}

}  // namespace

// OpenMP reads its environment when its library is loaded, before main, and nothing can be set
// afterwards. Left alone its threads spin at every barrier; when another process takes one of their
// cores, each barrier waits for a whole time slice and training falls to a tenth. This program's
// own getenv answers in its place with a short spin, unless the user has said something.
extern "C" char* getenv(const char* name) noexcept {
  const char* value = find_variable(name);
  if (value == nullptr && std::strcmp(name, "GOMP_SPINCOUNT") == 0 &&
      find_variable("OMP_WAIT_POLICY") == nullptr) {
    value = kSpin;
  }
  return const_cast<char*>(value);
}
