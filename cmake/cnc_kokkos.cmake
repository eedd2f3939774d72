# Where Kokkos comes from: an installed package first (Kokkos_ROOT and CMAKE_PREFIX_PATH work as usual), else a
# pinned release is fetched and built as part of this build. To force the second, set
# FETCHCONTENT_SOURCE_DIR_KOKKOS to a source tree, or CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON.
#
# What is known to go wrong between Kokkos and a device compiler is said here, before anything is compiled;
# docs/install.md has the table.
include(FetchContent)
include(cnc_import_kokkos)

set(CNC_KOKKOS_RELEASE 5.1.0)
set(CNC_KOKKOS_SHA256 7bdbdfc88033ed7d940c7940ed8919e1f2b78a9656c69276beb76ad45c41ec4e)

# Treats the headers of a library that is built here like those of an installed one, and its sources one by one.
function(cnc_mark_as_system)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        set_property(TARGET ${target} PROPERTY UNITY_BUILD OFF)
      endif()
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories)
        set_target_properties(${target} PROPERTIES
          INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
      endif()
    endif()
  endforeach()
endfunction()

# The devices that this build wants Kokkos to reach.
function(cnc_wanted_devices result)
  set(devices "")
  foreach(device CUDA HIP)
    if(CNC_ENABLE_${device} AND CNC_DEVICE_KOKKOS)
      list(APPEND devices ${device})
    endif()
  endforeach()
  set(${result} "${devices}" PARENT_SCOPE)
endfunction()

# The version that a source tree says it is, empty where it does not.
function(cnc_kokkos_source_version result tree)
  set(version "")
  if(EXISTS "${tree}/CMakeLists.txt")
    file(READ "${tree}/CMakeLists.txt" text)
    foreach(part MAJOR MINOR PATCH)
      if(text MATCHES "[sS][eE][tT] *\\( *Kokkos_VERSION_${part} +([0-9]+)")
        list(APPEND version ${CMAKE_MATCH_1})
      endif()
    endforeach()
  endif()
  list(JOIN version "." version)
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# Whether the headers in one of the directories call CUDA 13's form of a call that CUDA 13 changed; so that a
# mended older Kokkos is accepted.
function(cnc_kokkos_speaks_cuda_13 result)
  set(${result} OFF PARENT_SCOPE)
  foreach(directory IN LISTS ARGN)
    set(header "${directory}/Cuda/Kokkos_Cuda_Instance.hpp")
    if(EXISTS "${header}")
      file(STRINGS "${header}" lines REGEX "cudaMemLocation")
      if(lines)
        set(${result} ON PARENT_SCOPE)
      endif()
    endif()
  endforeach()
endfunction()

# Refuses what is known not to work, one sentence each. HEADERS are directories with Kokkos' headers.
function(cnc_check_kokkos version)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "HEADERS")
  set(kokkos "Kokkos ${version}")
  if(version VERSION_LESS 3.4)
    message(FATAL_ERROR "${kokkos} is too old: 3.4 or newer is needed.")
  endif()
  cnc_wanted_devices(devices)
  if("CUDA" IN_LIST devices AND CMAKE_CUDA_COMPILER_VERSION)
    set(cuda "CUDA ${CMAKE_CUDA_COMPILER_VERSION}")
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12)
      message(FATAL_ERROR "${cuda} has no C++20: CUDA 12 or newer is needed.")
    endif()
    cnc_kokkos_speaks_cuda_13(speaks_cuda_13 ${arg_HEADERS})
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13 AND version VERSION_LESS 4.7.1
        AND NOT speaks_cuda_13)
      message(FATAL_ERROR "${kokkos} does not compile with ${cuda}, which changed two runtime calls: "
        "take Kokkos 4.7.01 or newer, or CUDA 12.")
    endif()
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9
        AND version VERSION_GREATER_EQUAL 4.6 AND version VERSION_LESS 5 AND NOT Kokkos_ENABLE_IMPL_VIEW_LEGACY)
      message(FATAL_ERROR "${cuda} mis-compiles the views of ${kokkos} (reductions write through a null "
        "pointer): build that Kokkos with Kokkos_ENABLE_IMPL_VIEW_LEGACY=ON.")
    endif()
  endif()
  if("HIP" IN_LIST devices AND CNC_HIP_VERSION)
    if(CNC_HIP_VERSION VERSION_LESS 6 AND version VERSION_GREATER_EQUAL 5)
      message(FATAL_ERROR "${kokkos} does not compile with HIP ${CNC_HIP_VERSION}, whose bfloat16 headers it "
        "cannot use: take HIP 6 or newer, or Kokkos 4.6.")
    endif()
    if(CNC_HIP_VERSION VERSION_LESS 5.2 AND version VERSION_GREATER_EQUAL 4)
      message(FATAL_ERROR "${kokkos} needs HIP 5.2 or newer, not ${CNC_HIP_VERSION}.")
    endif()
  endif()
endfunction()

# Kokkos knows NVIDIA's architectures by these names; it is built for one of them.
set(CNC_KOKKOS_CUDA_NAMES 75 TURING75 80 AMPERE80 86 AMPERE86 87 AMPERE87 89 ADA89 90 HOPPER90
  100 BLACKWELL100 120 BLACKWELL120)

# Makes CMAKE_CUDA_ARCHITECTURES and Kokkos_ARCH_<name> agree, whichever of the two was given; with neither, this
# machine's GPU decides, and without one the oldest architecture that we tune for, whose code later ones run too.
macro(cnc_choose_kokkos_cuda_architecture)
  set(Kokkos_CUDA_ARCHITECTURES "")
  set(names ${CNC_KOKKOS_CUDA_NAMES})
  while(names)
    list(POP_FRONT names architecture name)
    if(Kokkos_ARCH_${name})
      set(Kokkos_CUDA_ARCHITECTURES ${architecture})
    endif()
  endwhile()
  if(NOT Kokkos_CUDA_ARCHITECTURES)
    list(GET CMAKE_CUDA_ARCHITECTURES 0 wanted)
    if(CNC_CUDA_ARCHITECTURES_CHOSEN OR wanted STREQUAL "native")
      execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
      if(NOT failed AND found MATCHES "^([0-9]+)\\.([0-9])")
        set(wanted "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
      endif()
    endif()
    string(REGEX MATCH "^[0-9]+" wanted "${wanted}")
    list(FIND CNC_KOKKOS_CUDA_NAMES "${wanted}" at)
    if(at EQUAL -1)
      message(FATAL_ERROR "No Kokkos architecture is known for CMAKE_CUDA_ARCHITECTURES="
        "${CMAKE_CUDA_ARCHITECTURES}: give Kokkos_ARCH_<name>=ON too.")
    endif()
    math(EXPR at "${at} + 1")
    list(GET CNC_KOKKOS_CUDA_NAMES ${at} name)
    set(Kokkos_ARCH_${name} ON CACHE BOOL "Kokkos: architecture")
    set(Kokkos_CUDA_ARCHITECTURES ${wanted})
  endif()
endmacro()

# The same for AMD: the first of the architectures that our kernels are compiled for.
macro(cnc_choose_kokkos_hip_architecture)
  if(CNC_HIP_ARCHITECTURES)
    list(GET CNC_HIP_ARCHITECTURES 0 wanted)
    string(TOUPPER "AMD_${wanted}" name)
    get_cmake_property(variables CACHE_VARIABLES)
    if(NOT variables MATCHES "Kokkos_ARCH_AMD_")
      set(Kokkos_ARCH_${name} ON CACHE BOOL "Kokkos: architecture")
    endif()
    if(NOT DEFINED CMAKE_HIP_ARCHITECTURES)
      set(CMAKE_HIP_ARCHITECTURES ${wanted})
    endif()
  endif()
endmacro()

# Asks for what we need of a Kokkos that is built here, as its own options: those are cache entries named
# Kokkos_ENABLE_... and Kokkos_ARCH_...; it refuses a build in which Kokkos_DEVICES and the like are set.
macro(cnc_set_kokkos_options version)
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos: serial execution space")
  set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "Kokkos: OpenMP execution space")
  cnc_wanted_devices(devices)
  foreach(device IN LISTS devices)
    set(Kokkos_ENABLE_${device} ON CACHE BOOL "Kokkos: ${device} execution space")
    # Not where the C++ compiler is the device's own.
    if(NOT CMAKE_CXX_COMPILER MATCHES "hipcc|amdclang|nvcc_wrapper")
      set(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE ON CACHE BOOL "Kokkos: as CMake's language")
    endif()
  endforeach()
  if("HIP" IN_LIST devices)
    cnc_choose_kokkos_hip_architecture()
    # Kokkos sorts with it where it is installed; we do not sort with Kokkos.
    find_package(rocthrust CONFIG QUIET)
    if(NOT rocthrust_FOUND)
      set(Kokkos_ENABLE_ROCTHRUST OFF CACHE BOOL "Kokkos: sort with rocThrust")
    endif()
  endif()
  if("CUDA" IN_LIST devices)
    cnc_choose_kokkos_cuda_architecture()
    if("${version}" VERSION_GREATER_EQUAL 4.6 AND "${version}" VERSION_LESS 5
        AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
      set(Kokkos_ENABLE_IMPL_VIEW_LEGACY ON CACHE BOOL "Kokkos: the older views, which CUDA 12.9 compiles rightly")
    endif()
  endif()
endmacro()

# Says of a Kokkos that is built here what the package of an installed one says. Only after its CMake has run.
macro(cnc_describe_built_kokkos version)
  set(Kokkos_VERSION "${version}")
  set(Kokkos_DEVICES "")
  set(Kokkos_COMPILE_LANGUAGE CXX)
  foreach(device SERIAL OPENMP THREADS CUDA HIP)
    if(Kokkos_ENABLE_${device})
      list(APPEND Kokkos_DEVICES ${device})
      if(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE AND device MATCHES "CUDA|HIP")
        set(Kokkos_COMPILE_LANGUAGE ${device})
      endif()
    endif()
  endforeach()
endmacro()

set(CNC_KOKKOS_IS_FETCHED OFF)
if(NOT TARGET Kokkos::kokkos)
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
    find_package(Kokkos CONFIG QUIET)
  endif()
  if(Kokkos_FOUND)
    message(STATUS "Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) from ${Kokkos_DIR}")
    cnc_wanted_devices(devices)
    foreach(device IN LISTS devices)
      if(NOT device IN_LIST Kokkos_DEVICES)
        message(FATAL_ERROR
          "Kokkos in ${Kokkos_DIR} has no ${device} execution space, so nothing could use the backend. "
          "Set Kokkos_ROOT to one that has, or CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON (or "
          "FETCHCONTENT_SOURCE_DIR_KOKKOS=<source tree>) to build one here, or "
          "CNC_DEVICE_KOKKOS=OFF to compile the kernels only.")
      endif()
    endforeach()
    get_target_property(headers Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
    cnc_check_kokkos("${Kokkos_VERSION}" HEADERS ${headers} ${Kokkos_INCLUDE_DIRS})
  else()
    set(version "")
    if(FETCHCONTENT_SOURCE_DIR_KOKKOS)
      cnc_kokkos_source_version(version "${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
      if(NOT version)
        message(FATAL_ERROR "FETCHCONTENT_SOURCE_DIR_KOKKOS=${FETCHCONTENT_SOURCE_DIR_KOKKOS} is not a source "
          "tree of Kokkos.")
      endif()
      message(STATUS "Building Kokkos ${version} from ${FETCHCONTENT_SOURCE_DIR_KOKKOS}")
    else()
      set(version ${CNC_KOKKOS_RELEASE})
      message(STATUS "Kokkos is not installed: building release ${version}")
    endif()
    cnc_set_kokkos_options(${version})
    cnc_check_kokkos(${version} HEADERS "${FETCHCONTENT_SOURCE_DIR_KOKKOS}/core/src")
    FetchContent_Declare(kokkos
      URL "https://github.com/kokkos/kokkos/releases/download/${CNC_KOKKOS_RELEASE}/kokkos-${CNC_KOKKOS_RELEASE}.tar.gz"
      URL_HASH "SHA256=${CNC_KOKKOS_SHA256}")
    FetchContent_MakeAvailable(kokkos)
    cnc_mark_as_system(kokkos kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
    cnc_describe_built_kokkos(${version})
    set(CNC_KOKKOS_IS_FETCHED ON)
  endif()
endif()
cnc_repair_kokkos()
# Kokkos code runs on the architectures that Kokkos was built for.
if(CNC_CUDA_ARCHITECTURES_CHOSEN AND Kokkos_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "${Kokkos_CUDA_ARCHITECTURES}")
endif()
