# Warnings for our own targets, sanitizers for the whole build.
#
# The optimisation level is CMake's own for Release (-O3). There is no -march=native, so a build
# runs on any machine of its architecture and the openmp backend chooses its instruction set at run
# time; and no -ffast-math, because NaN and Inf are outcomes the solvers must see.

function(cnc_set_warnings target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wnon-virtual-dtor;-Wcast-align;-Wunused;-Woverloaded-virtual>"
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${CNC_WERROR}>>:-Werror>"
    # nvcc rewrites host code before the host compiler sees it: only what survives that is asked for.
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-Xcompiler=-Wall,-Wextra,-fopenmp>")
  cnc_set_device_flags(${target})
endfunction()

# Kernels are lambdas, and they call constexpr functions of the contract, which is plain C++ and marks
# nothing for a device.
function(cnc_set_device_flags target)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:--extended-lambda;--expt-relaxed-constexpr>")
endfunction()

if(CNC_SANITIZE)
  # Instrumented loops do not vectorise, and clang would say so of each. Instrumented g++ code confuses g++'s own flow analysis: the warning then names paths that
  # cannot be taken.
  add_compile_options(
    -fsanitize=${CNC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>"
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>")
  add_link_options(-fsanitize=${CNC_SANITIZE})
  if(CNC_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR
      "CNC_SANITIZE=thread needs clang with its OpenMP run-time library. g++'s libgomp is not "
      "instrumented, so every barrier looks like a data race and the reports mean nothing.")
  endif()
endif()

if(CNC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "CNC_FUZZ needs clang: libFuzzer is part of its run-time library.")
  endif()
  # Coverage feedback in every source; only the fuzz executables link libFuzzer's main.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
