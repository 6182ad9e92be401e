#include <exception>
#include <iostream>
#include <new>

#include "base/error.h"
#include "cli/command_table.h"
#include "cli/standard_streams.h"
#include "nn/blas.h"

namespace {

int fail(verso::ExitCode code, const char* kind, const char* message) {
  std::cerr << "verso: " << kind << message << std::endl;
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  using verso::ExitCode;
  verso::choose_blas_kernel(argv);
  verso::prepare_standard_streams();
  try {
    return verso::run_program(argc, argv);
  } catch (const verso::Error& problem) {
    return fail(problem.exit_code(), "error: ", problem.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kInternal, "error: ",
                "out of memory; smaller batches (training.batch_tokens), a smaller model or fewer "
                "sentences at a time need less");
  } catch (const std::exception& problem) {
    return fail(ExitCode::kInternal, "internal error: ", problem.what());
  }
}
