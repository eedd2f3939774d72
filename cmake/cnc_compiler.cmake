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

# cnc_precompile(TARGET [FROM other] [HEADERS <header> ...] [EXCEPT regex])
#
# Kokkos' headers take longer to read than most sources to compile: they are read once, with HEADERS, for the target, or
# for another one with the same flags. Sources with flags of their own do without, and those that match the expression:
# they include nothing of Kokkos. Call it when all sources are added, in the directory of the target.
# CMAKE_DISABLE_PRECOMPILE_HEADERS turns it off.
function(cnc_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FROM;EXCEPT" "HEADERS")
  # Wrappers of device compilers know no such headers.
  if(NOT PROJECT_IS_TOP_LEVEL OR Kokkos_DEVICES MATCHES "CUDA|HIP|SYCL"
     OR NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
    return()
  endif()
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE <Kokkos_Core.hpp> ${arg_HEADERS})
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${directory}")
    get_source_file_property(options "${path}" TARGET_DIRECTORY ${target} COMPILE_OPTIONS)
    if(options OR (arg_EXCEPT AND path MATCHES "${arg_EXCEPT}"))
      set_source_files_properties("${path}" TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  # For ccache, which has to see what is included, and gives back a header made from files of other times.
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# Code that runs briefly takes longer to optimise: everything but the library and what is timed beside it. With the checks
# of sanitizers in it five times as long, so there it is not optimised at all.
function(cnc_compile_briefly target)
  if(CNC_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  else()
    target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")
  endif()
endfunction()

if(CNC_SANITIZE)
  # Instrumented loops do not vectorise, and clang would say so of each. Instrumented g++ code confuses g++'s own flow analysis: the warning then names paths that
  # cannot be taken.
  add_compile_options(
    -fsanitize=${CNC_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>"
    "$<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>")
  add_link_options(-fsanitize=${CNC_SANITIZE})
  if(CNC_SANITIZE MATCHES "address" AND CNC_SANITIZE MATCHES "undefined")
    # Given up for a third of the time to compile: of these the address sanitizer sees what ends in a wrong access.
    add_compile_options(-fno-sanitize=null,object-size,vptr,pointer-overflow)
  endif()
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
  # Coverage feedback in what cnc_add_fuzz_test names; only the fuzz executables link libFuzzer's main.
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
