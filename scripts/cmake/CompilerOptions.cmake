# Warnings, sanitizers, the compiler cache and the precompiled header.
# No -march=native and no -ffast-math: a build runs on other machines, and NaN is looked for.

add_compile_options(-Wall -Wextra)
if(VERSO_WERROR)
  add_compile_options(-Werror)
endif()

if(VERSO_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(VERSO_TSAN)
  # Correct parallel regions look like races to it, as libgomp is not instrumented.
  if(VERSO_OPENMP)
    message(FATAL_ERROR "VERSO_TSAN wants -DVERSO_OPENMP=OFF (cmake --preset tsan sets both)")
  endif()
  add_compile_options(-fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
if((VERSO_SANITIZE OR VERSO_TSAN) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ sees uninitialised and overrun memory in the code that the sanitizers add.
  add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
endif()

# ccache, unless another launcher is given. The sloppiness is what it needs to cache files that use
# a precompiled header; paths relative to the source folder let one clone use what another compiled.
find_program(VERSO_CCACHE ccache)
if(VERSO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=true "${VERSO_CCACHE}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
  add_compile_options(-fpch-preprocess)
endif()

# LibTorch's headers cost 7 to 15 s a file. The libraries that see them share one precompiled
# header, compiled with verso_nn. `scripts/check tidy` goes without it, so that no file relies on it.
function(verso_precompile_torch target)
  if(target STREQUAL "verso_nn")
    target_precompile_headers(verso_nn PRIVATE
      <algorithm> <cmath> <cstdint> <functional> <map> <memory> <optional> <string> <vector>
      <ATen/ATen.h> <torch/types.h> <torch/nn/module.h>)
  elseif(target MATCHES "^verso_(model|checkpoint|search|align|train|report|cli)$")
    target_precompile_headers(${target} REUSE_FROM verso_nn)
  endif()
endfunction()
