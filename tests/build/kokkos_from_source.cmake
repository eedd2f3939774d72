# cmake -DCNC_SOURCE_DIR=... -DWORK_DIR=... -P kokkos_from_source.cmake
#
# Configures cmake/cnc_kokkos.cmake against stand-ins for source trees of several releases, as a build for CUDA and for
# HIP does, and compares what it asks of them or why it refuses them.

function(make_tree version)
  string(REPLACE "." ";" parts "${version}")
  list(GET parts 0 major)
  list(GET parts 1 minor)
  list(GET parts 2 patch)
  configure_file("${CNC_SOURCE_DIR}/tests/build/kokkos_source.cmake.in"
    "${WORK_DIR}/kokkos_${version}/CMakeLists.txt" @ONLY)
endfunction()

# configures(NAME VERSION EXPECT|REFUSE text SETTINGS -D...): every text must be in the output.
function(configures name version)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "EXPECT;REFUSE;SETTINGS")
  make_tree(${version})
  file(REMOVE_RECURSE "${WORK_DIR}/build")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -S "${CNC_SOURCE_DIR}/tests/build/configure" -B "${WORK_DIR}/build"
      "-DCNC_SOURCE_DIR=${CNC_SOURCE_DIR}" "-DFETCHCONTENT_SOURCE_DIR_KOKKOS=${WORK_DIR}/kokkos_${version}"
      ${arg_SETTINGS}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(REGEX REPLACE "[ \n]+" " " flat "${output}")
  set(wrong "")
  foreach(text IN LISTS arg_EXPECT arg_REFUSE)
    string(FIND "${flat}" "${text}" at)
    if(at EQUAL -1)
      string(APPEND wrong "\n  not said: ${text}")
    endif()
  endforeach()
  if(arg_REFUSE AND result EQUAL 0)
    string(APPEND wrong "\n  not refused")
  elseif(NOT arg_REFUSE AND NOT result EQUAL 0)
    string(APPEND wrong "\n  refused")
  endif()
  if(wrong)
    message(SEND_ERROR "${name}:${wrong}\n${output}")
  else()
    message(STATUS "${name}: as expected")
  endif()
endfunction()

set(cuda -DCNC_ENABLE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90)
set(hip -DCNC_ENABLE_HIP=ON)
set(hipcc -DCMAKE_CXX_COMPILER=/usr/bin/hipcc)

foreach(version 4.6.2 4.7.1 5.0.0 5.1.0)
  configures("Kokkos ${version} with CUDA 12.8" ${version}
    SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=12.8.93
    EXPECT "asked for: COMPILE_AS_CMAKE_LANGUAGE CUDA HOPPER90 OPENMP SERIAL."
      "devices: SERIAL OPENMP CUDA, language: CUDA, CUDA: 90")
endforeach()
configures("Kokkos 4.7 with CUDA 13: older views" 4.7.1
  SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=13.0.88
  EXPECT "asked for: COMPILE_AS_CMAKE_LANGUAGE CUDA HOPPER90 IMPL_VIEW_LEGACY OPENMP SERIAL.")
configures("Kokkos 5 with CUDA 13" 5.1.0
  SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=13.0.88
  EXPECT "asked for: COMPILE_AS_CMAKE_LANGUAGE CUDA HOPPER90 OPENMP SERIAL.")
configures("an architecture given as Kokkos names it" 4.6.2
  SETTINGS -DCNC_ENABLE_CUDA=ON -DCNC_CUDA_ARCHITECTURES_CHOSEN=ON "-DCMAKE_CUDA_ARCHITECTURES=80\;90"
    -DKokkos_ARCH_HOPPER90=ON -DCMAKE_CUDA_COMPILER_VERSION=12.4.1
  EXPECT "asked for: COMPILE_AS_CMAKE_LANGUAGE CUDA HOPPER90 OPENMP SERIAL." "CUDA: 90")
configures("older views switched off by hand" 4.7.1
  SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=12.9.41 -DKokkos_ENABLE_IMPL_VIEW_LEGACY=OFF
  REFUSE "CUDA 12.9.41 mis-compiles the views of Kokkos 4.7.1")
configures("Kokkos 4.6 with CUDA 13" 4.6.2
  SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=13.0.88
  REFUSE "Kokkos 4.6.2 does not compile with CUDA 13.0.88")
configures("CUDA 11" 4.6.2
  SETTINGS ${cuda} -DCMAKE_CUDA_COMPILER_VERSION=11.8.89
  REFUSE "CUDA 11.8.89 has no C++20")

configures("Kokkos 4.6 with hipcc 5.2" 4.6.2
  SETTINGS ${hip} ${hipcc} -DCNC_HIP_VERSION=5.2.21153 -DCNC_HIP_ARCHITECTURES=gfx90a
  EXPECT "asked for: AMD_GFX90A HIP OPENMP SERIAL." "devices: SERIAL OPENMP HIP, language: CXX")
configures("Kokkos 5 with HIP as a language" 5.1.0
  SETTINGS ${hip} -DCMAKE_CXX_COMPILER=/usr/bin/c++ -DCNC_HIP_VERSION=6.4.1 -DCNC_HIP_ARCHITECTURES=gfx942
  EXPECT "asked for: AMD_GFX942 COMPILE_AS_CMAKE_LANGUAGE HIP OPENMP SERIAL." "language: HIP")
configures("Kokkos 5 with HIP 5" 5.1.0
  SETTINGS ${hip} ${hipcc} -DCNC_HIP_VERSION=5.7.1 -DCNC_HIP_ARCHITECTURES=gfx90a
  REFUSE "Kokkos 5.1.0 does not compile with HIP 5.7.1")

configures("neither" 4.6.2 EXPECT "asked for: OPENMP SERIAL." "devices: SERIAL OPENMP, language: CXX")
configures("an old Kokkos" 3.3.1 REFUSE "Kokkos 3.3.1 is too old")
