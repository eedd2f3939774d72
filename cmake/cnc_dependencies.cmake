# Everything the build uses and where it comes from.
#
# Kokkos and Kokkos Kernels: an installed package first (Kokkos_ROOT and CMAKE_PREFIX_PATH work as
# usual), else a pinned release is fetched and built as part of this build. To force the second,
# set FETCHCONTENT_SOURCE_DIR_KOKKOS to a source tree, or CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON.
include(FetchContent)
include(cnc_import_kokkos)

# Extracted files get the time of extraction: another release is then rebuilt.
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)
endif()

set(CNC_KOKKOS_RELEASE 5.1.0)
set(CNC_KOKKOS_SHA256 7bdbdfc88033ed7d940c7940ed8919e1f2b78a9656c69276beb76ad45c41ec4e)
set(CNC_KOKKOS_KERNELS_RELEASE 5.1.0)
set(CNC_KOKKOS_KERNELS_SHA256 c003cd53126dee651f41a3b003e443950c3030246785ae968055ce015c89e0d5)

# Treats the headers of a library that is built here like those of an installed one.
function(cnc_mark_as_system)
  foreach(target IN LISTS ARGN)
    if(TARGET ${target})
      get_target_property(directories ${target} INTERFACE_INCLUDE_DIRECTORIES)
      if(directories)
        set_target_properties(${target} PROPERTIES
          INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${directories}")
      endif()
    endif()
  endforeach()
endfunction()

# --- Kokkos -------------------------------------------------------------------------------------
set(CNC_KOKKOS_IS_FETCHED OFF)
if(NOT TARGET Kokkos::kokkos)
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
    find_package(Kokkos CONFIG QUIET)
  endif()
  if(Kokkos_FOUND)
    if(Kokkos_VERSION VERSION_LESS 3.4)
      message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} in ${Kokkos_DIR} is too old: 3.4 or newer needed.")
    endif()
    message(STATUS "Kokkos ${Kokkos_VERSION} (${Kokkos_DEVICES}) from ${Kokkos_DIR}")
    foreach(device CUDA HIP)
      if(CNC_ENABLE_${device} AND CNC_DEVICE_KOKKOS AND NOT device IN_LIST Kokkos_DEVICES)
        message(FATAL_ERROR
          "Kokkos in ${Kokkos_DIR} has no ${device} execution space, so nothing could use the backend. "
          "Set Kokkos_ROOT to one that has, or CMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON (or "
          "FETCHCONTENT_SOURCE_DIR_KOKKOS=<source tree>) to build one here, or "
          "CNC_DEVICE_KOKKOS=OFF to compile the kernels only.")
      endif()
    endforeach()
  else()
    message(STATUS "Kokkos is not installed: building release ${CNC_KOKKOS_RELEASE}")
    set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "Kokkos: serial execution space")
    set(Kokkos_ENABLE_OPENMP ON CACHE BOOL "Kokkos: OpenMP execution space")
    foreach(device CUDA HIP)
      if(CNC_ENABLE_${device} AND CNC_DEVICE_KOKKOS)
        set(Kokkos_ENABLE_${device} ON CACHE BOOL "Kokkos: ${device} execution space")
        set(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE ON CACHE BOOL "Kokkos: as CMake's language")
        set(Kokkos_DEVICES ${device})
        set(Kokkos_COMPILE_LANGUAGE ${device})
      endif()
    endforeach()
    FetchContent_Declare(kokkos
      URL "https://github.com/kokkos/kokkos/releases/download/${CNC_KOKKOS_RELEASE}/kokkos-${CNC_KOKKOS_RELEASE}.tar.gz"
      URL_HASH "SHA256=${CNC_KOKKOS_SHA256}")
    FetchContent_MakeAvailable(kokkos)
    cnc_mark_as_system(kokkos kokkoscore kokkoscontainers kokkosalgorithms kokkossimd)
    set(CNC_KOKKOS_IS_FETCHED ON)
  endif()
endif()
cnc_repair_kokkos()
# Kokkos code runs on the architectures that Kokkos was built for.
if(CNC_CUDA_ARCHITECTURES_CHOSEN AND Kokkos_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES "${Kokkos_CUDA_ARCHITECTURES}")
endif()

# --- Kokkos Kernels -----------------------------------------------------------------------------
# A yardstick only, so AUTO never builds it; and an installed one belongs to an installed Kokkos.
if(CNC_WITH_KOKKOS_KERNELS)
  cnc_kokkos_language(kokkos_language)
  if(NOT CNC_KOKKOS_IS_FETCHED AND NOT FETCHCONTENT_SOURCE_DIR_KOKKOSKERNELS
      AND kokkos_language STREQUAL "CXX")
    find_package(KokkosKernels CONFIG QUIET)
    cnc_find_missing_link_files(missing ${KokkosKernels_TPL_LIBRARIES})
    if(missing)
      message(STATUS "Kokkos Kernels left out: its package links ${missing}, which is not installed")
      set(KokkosKernels_FOUND OFF)
    endif()
  endif()
  if(KokkosKernels_FOUND OR TARGET Kokkos::kokkoskernels)
    message(STATUS "Kokkos Kernels from ${KokkosKernels_DIR}")
    cnc_import_kokkos_kernels()
  elseif(NOT CNC_WITH_KOKKOS_KERNELS STREQUAL "AUTO")
    message(STATUS "Kokkos Kernels is not installed: building release ${CNC_KOKKOS_KERNELS_RELEASE}")
    # Only the sparse part and no instantiations in advance: we call a handful of its kernels.
    set(KokkosKernels_ADD_DEFAULT_ETI OFF CACHE BOOL "Kokkos Kernels: default instantiations")
    set(KokkosKernels_ENABLE_ALL_COMPONENTS OFF CACHE BOOL "Kokkos Kernels: all components")
    set(KokkosKernels_ENABLE_COMPONENT_SPARSE ON CACHE BOOL "Kokkos Kernels: sparse component")
    FetchContent_Declare(kokkoskernels
      URL "https://github.com/kokkos/kokkos-kernels/releases/download/${CNC_KOKKOS_KERNELS_RELEASE}/kokkos-kernels-${CNC_KOKKOS_KERNELS_RELEASE}.tar.gz"
      URL_HASH "SHA256=${CNC_KOKKOS_KERNELS_SHA256}")
    FetchContent_MakeAvailable(kokkoskernels)
    cnc_mark_as_system(kokkoskernels)
    cnc_import_kokkos_kernels()
  endif()
endif()

# --- the rest: packages of every distribution -----------------------------------------------------
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(FastFloat CONFIG REQUIRED)

# xxHash is used from its header alone, which needs no library at link time.
find_path(CNC_XXHASH_INCLUDE_DIR xxhash.h)
mark_as_advanced(CNC_XXHASH_INCLUDE_DIR)
if(NOT CNC_XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxhash.h not found. Install xxHash (Debian: libxxhash-dev).")
endif()
if(NOT TARGET cnc_xxhash)
  add_library(cnc_xxhash INTERFACE IMPORTED)
  target_include_directories(cnc_xxhash SYSTEM INTERFACE "${CNC_XXHASH_INCLUDE_DIR}")
  target_compile_definitions(cnc_xxhash INTERFACE XXH_INLINE_ALL)
endif()

if(CNC_BUILD_CLI OR CNC_BUILD_PERF)
  find_package(nlohmann_json CONFIG REQUIRED)
  find_package(CLI11 CONFIG REQUIRED)
endif()

if(CNC_BUILD_TESTS)
  find_package(Catch2 CONFIG REQUIRED)
  if(Catch2_VERSION VERSION_LESS 2.13)
    message(FATAL_ERROR "Catch2 ${Catch2_VERSION} is too old: 2.13 or 3.x needed.")
  endif()
endif()

# Peers that the benchmarks time in the same run. Each is optional, a record names those it met.
if(CNC_BUILD_PERF)
  find_package(Eigen3 CONFIG QUIET)
  find_path(CNC_AMGCL_INCLUDE_DIR amgcl/amg.hpp HINTS "${AMGCL_ROOT}" ENV AMGCL_ROOT)
  mark_as_advanced(CNC_AMGCL_INCLUDE_DIR)
  if(CNC_AMGCL_INCLUDE_DIR AND NOT TARGET cnc_amgcl)
    # Without Boost AMGCL loses only its property-tree parameters, which we do not use.
    add_library(cnc_amgcl INTERFACE IMPORTED)
    target_include_directories(cnc_amgcl SYSTEM INTERFACE "${CNC_AMGCL_INCLUDE_DIR}")
    target_compile_definitions(cnc_amgcl INTERFACE AMGCL_NO_BOOST)
  endif()
endif()

# As a subdirectory: a target that links cnc::cnc may be created above this directory, where
# imported targets are not visible unless they are global.
if(NOT PROJECT_IS_TOP_LEVEL)
  get_property(imported_targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  foreach(target IN LISTS imported_targets)
    set_target_properties(${target} PROPERTIES IMPORTED_GLOBAL TRUE)
  endforeach()
endif()
