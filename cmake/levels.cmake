# Kernels are compiled once per instruction-set level, each into its own namespace, and one level
# is chosen when the module is loaded. Everything else is compiled for the baseline.

function(coterie_options target)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR}/native)
  set(optimise ${COTERIE_OPTIMISE})
  if(COTERIE_SANITIZE)
    set(optimise -O1) # at -O3 checks within unrolled kernels take the compiler many times as long
  endif()
  # Contraction off: the definition of a distance is "multiply, then add". Kernels that may
  # fuse say so by calling fma().
  target_compile_options(${target} PRIVATE
    ${optimise} -ffp-contract=off -fno-math-errno -fno-trapping-math -fvisibility=hidden
    -Wall -Wextra -Wno-psabi)
  if(COTERIE_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE} -fno-omit-frame-pointer -g)
    target_link_options(${target} PUBLIC -fsanitize=${COTERIE_SANITIZE})
  endif()
endfunction()

# Standard headers are most of what a short file costs to compile, so each target reads them once.
# Every file still includes what it uses: CMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds the same.
function(coterie_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <atomic> <bit> <cmath> <cstdint> <cstring>
    <functional> <limits> <memory> <optional> <stdexcept> <string> <thread> <utility> <vector> ${ARGN})
endfunction()

function(coterie_add_levels target)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set(levels baseline avx2 avx512)
    set(intrinsics <immintrin.h>)
    set(flags_avx2 -mavx2 -mfma -mtune=haswell)
    set(flags_avx512 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
      -mprefer-vector-width=512
      -Wno-uninitialized -Wno-maybe-uninitialized) # GCC 12 warns about its own intrinsics
  else()
    set(levels baseline)
  endif()
  foreach(level IN LISTS levels)
    add_library(coterie_${level} OBJECT ${ARGN})
    coterie_options(coterie_${level})
    target_compile_definitions(coterie_${level} PRIVATE COTERIE_LEVEL=${level}
      COTERIE_LEVEL_NAME="${level}")
    target_compile_options(coterie_${level} PRIVATE ${flags_${level}})
    coterie_precompile(coterie_${level} ${intrinsics})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:coterie_${level}>)
    target_compile_definitions(${target} PRIVATE COTERIE_HAS_${level})
  endforeach()
endfunction()
