# Finds one LibTorch and wraps it as the target verso::torch. The first of these that has one:
#   1. Torch_DIR or CMAKE_PREFIX_PATH (an unpacked archive, or a Python torch package's root)
#   2. what an earlier configure of this build folder found
#   3. the torch package that python3 sees (an active virtual environment comes first on PATH)
#   4. the system's libtorch-dev
#
# Sets VERSO_TORCH_ROOT, VERSO_TORCH_ORIGIN, VERSO_TORCH_VERSION and VERSO_TORCH_BLAS.
# Targets: verso::torch (LibTorch, OpenMP, BLAS; a system include) and verso::blas (part of it).
#
# Traps that are handled here:
#   - TorchConfig.cmake looks for libtorch and libc10 on the system before its own folder, so that
#     headers of one LibTorch meet libraries of another and the program aborts at start. The root
#     found goes first on CMAKE_PREFIX_PATH and the outcome is checked.
#   - It warns that kineto is missing; nothing here uses kineto. Both concern the system's LibTorch
#     only: of the others, the libraries are named without it.
#   - Python's torch brings its own libgomp: OpenMP uses that one, so that there is no other.
#   - Debian's LibTorch takes whatever BLAS the system's alternatives name. See verso::blas below.

set(verso_torch_help
"No LibTorch was found. Any one of these gives one:
  apt-get install libtorch-dev libopenblas0-openmp                 (Debian, Ubuntu)
  python3 -m venv build/venv-torch && build/venv-torch/bin/pip install torch
    and then configure with the venv active, or with
    -DCMAKE_PREFIX_PATH=$(build/venv-torch/bin/python -c 'import torch, os; print(os.path.dirname(torch.__file__))')
  an unpacked LibTorch archive: -DCMAKE_PREFIX_PATH=/path/to/libtorch")

# Puts the folder of TorchConfig.cmake that belongs to a prefix into `out`, or nothing.
function(verso_torch_config_dir prefix out)
  set(${out} "" PARENT_SCOPE)
  foreach(base "$ENV{PWD}" "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
    get_filename_component(absolute "${prefix}" ABSOLUTE BASE_DIR "${base}")
    foreach(below share/cmake/Torch lib/cmake/Torch lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch
                  Torch .)
      if(EXISTS "${absolute}/${below}/TorchConfig.cmake")
        get_filename_component(found "${absolute}/${below}" REALPATH)
        set(${out} "${found}" PARENT_SCOPE)
        return()
      endif()
    endforeach()
  endforeach()
endfunction()

# Sets verso_torch_dir and VERSO_TORCH_ORIGIN from the first place that has a LibTorch.
macro(verso_torch_search)
  set(verso_torch_dir "")
  if(Torch_DIR AND NOT Torch_DIR STREQUAL "$CACHE{VERSO_TORCH_DIR_FOUND}")
    verso_torch_config_dir("${Torch_DIR}" verso_torch_dir)
    set(VERSO_TORCH_ORIGIN "Torch_DIR")
    if(NOT verso_torch_dir)
      message(FATAL_ERROR "Torch_DIR is ${Torch_DIR}, which holds no TorchConfig.cmake.\n"
        "${verso_torch_help}")
    endif()
  endif()
  string(REPLACE ":" ";" verso_prefixes "$ENV{CMAKE_PREFIX_PATH}")
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH verso_prefixes)
    if(NOT verso_torch_dir)
      verso_torch_config_dir("${prefix}" verso_torch_dir)
      set(VERSO_TORCH_ORIGIN "CMAKE_PREFIX_PATH")
    endif()
  endforeach()
  if(NOT verso_torch_dir AND EXISTS "$CACHE{VERSO_TORCH_DIR_FOUND}/TorchConfig.cmake")
    set(verso_torch_dir "$CACHE{VERSO_TORCH_DIR_FOUND}")
    set(VERSO_TORCH_ORIGIN "$CACHE{VERSO_TORCH_ORIGIN_FOUND}")
  endif()
  if(NOT verso_torch_dir)
    execute_process(
      COMMAND python3 -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
      OUTPUT_VARIABLE verso_python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(verso_python_torch)
      verso_torch_config_dir("${verso_python_torch}" verso_torch_dir)
      set(VERSO_TORCH_ORIGIN "python3's torch package")
    endif()
  endif()
  foreach(prefix /usr/local /usr)
    if(NOT verso_torch_dir)
      verso_torch_config_dir(${prefix} verso_torch_dir)
      set(VERSO_TORCH_ORIGIN "the system")
    endif()
  endforeach()
  if(NOT verso_torch_dir)
    message(FATAL_ERROR "${verso_torch_help}")
  endif()
endmacro()

verso_torch_search()
string(REGEX REPLACE "/(share|lib|lib/[^/]+)/cmake/Torch$" "" VERSO_TORCH_ROOT "${verso_torch_dir}")

# What an earlier configure may have found for another LibTorch.
unset(TORCH_LIBRARY CACHE)
unset(c10_LIBRARY CACHE)
set(Torch_DIR "${verso_torch_dir}" CACHE PATH "folder of TorchConfig.cmake" FORCE)
set(VERSO_TORCH_DIR_FOUND "${verso_torch_dir}" CACHE INTERNAL "Torch_DIR as found, not as given")
set(VERSO_TORCH_ORIGIN_FOUND "${VERSO_TORCH_ORIGIN}" CACHE INTERNAL "where that came from")

if(VERSO_TORCH_ROOT MATCHES "^/usr(/local)?$")
  set(verso_prefix_path "${CMAKE_PREFIX_PATH}")
  list(PREPEND CMAKE_PREFIX_PATH "${VERSO_TORCH_ROOT}")
  set(kineto_LIBRARY c10 CACHE STRING "not used; only keeps TorchConfig.cmake from warning")
  find_package(Torch CONFIG REQUIRED QUIET)
  set(CMAKE_PREFIX_PATH "${verso_prefix_path}")
  set(verso_torch_definitions "")
else()
  # Python packages and archives have one layout, and name their files better than their
  # TorchConfig.cmake does: that one wants a whole CUDA toolkit for a CUDA build.
  set(TORCH_INCLUDE_DIRS "${VERSO_TORCH_ROOT}/include"
    "${VERSO_TORCH_ROOT}/include/torch/csrc/api/include")
  set(TORCH_LIBRARY "${VERSO_TORCH_ROOT}/lib/libtorch.so")
  set(c10_LIBRARY "${VERSO_TORCH_ROOT}/lib/libc10.so")
  set(verso_torch_libraries "${TORCH_LIBRARY}" "${VERSO_TORCH_ROOT}/lib/libtorch_cpu.so"
    "${c10_LIBRARY}")
  foreach(library IN LISTS verso_torch_libraries)
    if(NOT EXISTS "${library}")
      message(FATAL_ERROR "The LibTorch in ${VERSO_TORCH_ROOT} has no ${library}.\n"
        "${verso_torch_help}")
    endif()
  endforeach()
  foreach(library torch_cuda c10_cuda)
    if(EXISTS "${VERSO_TORCH_ROOT}/lib/lib${library}.so")
      list(APPEND verso_torch_libraries "${VERSO_TORCH_ROOT}/lib/lib${library}.so")
    endif()
  endforeach()
  # --no-as-needed: libtorch_cuda registers itself when it is loaded, nobody calls it by name.
  list(JOIN verso_torch_libraries "," verso_torch_joined)
  set(TORCH_LIBRARIES "-Wl,--push-state,--no-as-needed,${verso_torch_joined},--pop-state"
    "-Wl,-rpath,${VERSO_TORCH_ROOT}/lib")
  file(STRINGS "${verso_torch_dir}/TorchConfig.cmake" TORCH_CXX_FLAGS REGEX "_GLIBCXX_USE_CXX11_ABI")
  file(STRINGS "${VERSO_TORCH_ROOT}/share/cmake/Caffe2/Caffe2Targets.cmake" verso_torch_definitions
    REGEX "INTERFACE_COMPILE_DEFINITIONS \"USE_" LIMIT_COUNT 1)
  string(REGEX MATCHALL "USE_[A-Z0-9_]+" verso_torch_definitions "${verso_torch_definitions}")
endif()

foreach(part "${TORCH_LIBRARY}" "${c10_LIBRARY}" ${TORCH_INCLUDE_DIRS})
  get_filename_component(real "${part}" REALPATH)
  string(FIND "${real}" "${VERSO_TORCH_ROOT}/" at)
  if(NOT at EQUAL 0)
    message(FATAL_ERROR "The LibTorch in ${VERSO_TORCH_ROOT} (from ${VERSO_TORCH_ORIGIN}) was about "
      "to be used with ${part}, which belongs to another one.\n"
      "Remove the build folder and configure with -DCMAKE_PREFIX_PATH=${VERSO_TORCH_ROOT} alone.")
  endif()
endforeach()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "The LibTorch in ${VERSO_TORCH_ROOT} was built with the old C++ ABI of g++; "
    "the other libraries here are not. Take a newer one.\n${verso_torch_help}")
endif()

set(VERSO_TORCH_VERSION "${Torch_VERSION}")
foreach(header torch/version.h torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
  if(EXISTS "${VERSO_TORCH_ROOT}/include/${header}")
    file(STRINGS "${VERSO_TORCH_ROOT}/include/${header}" verso_numbers
      REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    if(verso_numbers)
      string(REGEX REPLACE "[^;0-9]" "" verso_numbers "${verso_numbers}")
      string(REPLACE ";" "." VERSO_TORCH_VERSION "${verso_numbers}")
    endif()
  endif()
endforeach()

# Without OpenMP, at::parallel_for in our own code silently runs on one thread.
if(VERSO_OPENMP)
  file(GLOB verso_torch_gomp "${VERSO_TORCH_ROOT}/lib/libgomp*.so.1")
  if(verso_torch_gomp)
    list(GET verso_torch_gomp 0 verso_torch_gomp)
    set(OpenMP_gomp_LIBRARY "${verso_torch_gomp}" CACHE FILEPATH "the libgomp that LibTorch uses" FORCE)
  endif()
  find_package(OpenMP REQUIRED COMPONENTS CXX)
endif()

# verso::blas. Debian's LibTorch asks for libblas.so.3 and takes what the alternatives name: the
# reference BLAS is a hundred times too slow, and OpenBLAS with its own threads fights with
# LibTorch's. So every executable that uses LibTorch names the OpenMP variant itself, by three
# sonames and an rpath: it is in the process before LibTorch asks, and there is only one.
# Python's torch and the archives have a BLAS inside.
add_library(verso::blas INTERFACE IMPORTED GLOBAL)
set(VERSO_TORCH_BLAS "inside LibTorch")
if(VERSO_TORCH_ROOT MATCHES "^/usr(/local)?$")
  set(verso_openblas "/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp")
  if(EXISTS "${verso_openblas}/libblas.so.3" AND EXISTS "${verso_openblas}/libopenblas.so.0")
    set(VERSO_TORCH_BLAS "${verso_openblas}")
    target_link_options(verso::blas INTERFACE
      "LINKER:--push-state,--no-as-needed,${verso_openblas}/libblas.so.3,${verso_openblas}/liblapack.so.3,${verso_openblas}/libopenblas.so.0,--pop-state"
      "LINKER:-rpath,${verso_openblas}")
  else()
    set(VERSO_TORCH_BLAS "whatever the system's alternatives name")
    message(WARNING "OpenBLAS's OpenMP variant is not installed: training may be many times slower. "
      "Remedy: apt-get install libopenblas0-openmp, and configure again.")
  endif()
endif()

add_library(verso::torch INTERFACE IMPORTED GLOBAL)
target_include_directories(verso::torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_compile_definitions(verso::torch INTERFACE ${verso_torch_definitions})
target_link_libraries(verso::torch INTERFACE verso::blas ${TORCH_LIBRARIES})
# RPATH and not RUNPATH: an LD_LIBRARY_PATH with the system's folder in it must not change which
# LibTorch or BLAS a program gets.
target_link_options(verso::torch INTERFACE "LINKER:--disable-new-dtags")
if(VERSO_OPENMP)
  target_link_libraries(verso::torch INTERFACE OpenMP::OpenMP_CXX)
endif()

message(STATUS "LibTorch ${VERSO_TORCH_VERSION} from ${VERSO_TORCH_ORIGIN} (${VERSO_TORCH_ROOT}); "
  "BLAS: ${VERSO_TORCH_BLAS}")
