# Links and runs a program with LibTorch and SentencePiece in it: where their protobufs clash, it
# dies before main(), and better here than in the first training run. Done once per LibTorch.

if(NOT CMAKE_CROSSCOMPILING AND NOT "${VERSO_CHECKED_TOGETHER}" STREQUAL "${VERSO_TORCH_ROOT}")
  file(WRITE "${CMAKE_BINARY_DIR}/check_together/main.cpp" "
#include <ATen/Parallel.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
int main() {
  sentencepiece::SentencePieceProcessor processor;
  const bool refused = !processor.LoadFromSerializedProto(\"not a model\").ok();
  return refused && at::get_num_threads() > 0 ? 0 : 1;
}
")
  unset(VERSO_TOGETHER_RUNS CACHE)
  unset(VERSO_TOGETHER_LINKS CACHE)
  try_run(VERSO_TOGETHER_RUNS VERSO_TOGETHER_LINKS
    "${CMAKE_BINARY_DIR}/check_together" "${CMAKE_BINARY_DIR}/check_together/main.cpp"
    LINK_LIBRARIES verso::torch verso::sentencepiece
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON
    COMPILE_OUTPUT_VARIABLE verso_compile_output
    RUN_OUTPUT_VARIABLE verso_run_output)
  if(NOT VERSO_TOGETHER_LINKS)
    message(FATAL_ERROR "A program with LibTorch and SentencePiece does not build:\n"
      "${verso_compile_output}")
  endif()
  if(NOT VERSO_TOGETHER_RUNS EQUAL 0)
    message(FATAL_ERROR "A program with LibTorch ${VERSO_TORCH_VERSION} (${VERSO_TORCH_ROOT}) and "
      "SentencePiece in it does not run (${VERSO_TOGETHER_RUNS}).\n${verso_run_output}\n"
      "LD_LIBRARY_PATH is the usual culprit: configure and run without it.")
  endif()
  message(STATUS "LibTorch and SentencePiece run in one process")
  set(VERSO_CHECKED_TOGETHER "${VERSO_TORCH_ROOT}" CACHE INTERNAL "LibTorch that was checked")
endif()
