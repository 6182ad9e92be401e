# Target verso::sentencepiece: SentencePiece as static libraries, built once by
# scripts/get_sentencepiece into VERSO_DEPS_DIR (cache or environment variable; build/deps).
#
#   #include <sentencepiece_processor.h>     #include <sentencepiece_trainer.h>
#
# --exclude-libs keeps the symbols of its protobuf and absl inside the executable. Without it they
# replace those that LibTorch's libraries look for, and the program crashes before main().

set(verso_deps_default "${CMAKE_SOURCE_DIR}/build/deps")
if(DEFINED ENV{VERSO_DEPS_DIR})
  set(verso_deps_default "$ENV{VERSO_DEPS_DIR}")
endif()
set(VERSO_DEPS_DIR "${verso_deps_default}" CACHE PATH "where dependencies built from source are kept")

set(verso_spm_root "${VERSO_DEPS_DIR}/sentencepiece-0.2.1")
if(NOT EXISTS "${verso_spm_root}/lib/libsentencepiece_train.a")
  message(STATUS "SentencePiece is not in ${VERSO_DEPS_DIR}: building it once (a few minutes)")
  execute_process(
    COMMAND "${CMAKE_SOURCE_DIR}/scripts/get_sentencepiece" "${VERSO_DEPS_DIR}"
    RESULT_VARIABLE verso_spm_failed)
  if(verso_spm_failed)
    message(FATAL_ERROR "SentencePiece could not be built; the reason is above. "
      "Try by hand: scripts/get_sentencepiece ${VERSO_DEPS_DIR}")
  endif()
endif()

add_library(verso::sentencepiece INTERFACE IMPORTED GLOBAL)
target_include_directories(verso::sentencepiece SYSTEM INTERFACE "${verso_spm_root}/include")
target_link_libraries(verso::sentencepiece INTERFACE
  "${verso_spm_root}/lib/libsentencepiece_train.a"
  "${verso_spm_root}/lib/libsentencepiece.a"
  Threads::Threads)
if(VERSO_FUZZ)
  # ALL would hide clang's sanitizers too, which are archives and must replace malloc everywhere.
  target_link_options(verso::sentencepiece INTERFACE
    "LINKER:--exclude-libs,libsentencepiece.a:libsentencepiece_train.a")
else()
  target_link_options(verso::sentencepiece INTERFACE "LINKER:--exclude-libs,ALL")
endif()
message(STATUS "SentencePiece 0.2.1 from ${verso_spm_root}")
