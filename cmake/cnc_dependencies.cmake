# Everything the build uses and where it comes from.
#
# The library needs Kokkos, OpenMP and zlib; fast_float and xxHash are headers compiled into it. Everything else is
# for our own programs: what clients must have stands in cncConfig.cmake.in.

# Extracted files get the time of extraction: another release is then rebuilt.
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW)
endif()
include(cnc_kokkos)

# --- the rest: packages of every distribution -----------------------------------------------------
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(ZLIB REQUIRED)
find_package(FastFloat CONFIG REQUIRED)
if(CNC_ENABLE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)  # the C interface is what is used
  find_package(MPI 3.0 REQUIRED COMPONENTS CXX)
endif()

# cnc_find_by_path(NAME OPTION HEADER header LIBRARIES names... [PATHS directories...] [HELP text])
#
# A library without a package for CMake, which the option asks for: CNC_HAS_<NAME>, and where it is, CNC_<NAME>_INCLUDE_DIR and
# CNC_<NAME>_LIBRARY, which may be given. With AUTO it may be missing, with ON it must not.
function(cnc_find_by_path name option)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;HELP" "LIBRARIES;PATHS")
  set(CNC_HAS_${name} OFF PARENT_SCOPE)
  find_path(CNC_${name}_INCLUDE_DIR "${arg_HEADER}" PATHS ${arg_PATHS} PATH_SUFFIXES include)
  find_library(CNC_${name}_LIBRARY NAMES ${arg_LIBRARIES} PATHS ${arg_PATHS} PATH_SUFFIXES lib)
  mark_as_advanced(CNC_${name}_INCLUDE_DIR CNC_${name}_LIBRARY)
  if(CNC_${name}_INCLUDE_DIR AND CNC_${name}_LIBRARY)
    message(STATUS "${name} from ${CNC_${name}_LIBRARY}")
    set(CNC_HAS_${name} ON PARENT_SCOPE)
  elseif(NOT ${option} STREQUAL "AUTO")
    message(FATAL_ERROR "${option}: no ${name} found${arg_HELP}.")
  else()
    message(STATUS "${name} left out: not installed")
  endif()
endfunction()

# CNC_METIS_LIBRARY may be a list: a static METIS 5.2 needs GKlib beside it.
set(CNC_HAS_METIS OFF)
if(CNC_ENABLE_MPI AND CNC_WITH_METIS)
  cnc_find_by_path(METIS CNC_WITH_METIS HEADER metis.h LIBRARIES metis HELP " (Debian: libmetis-dev)")
endif()

# Messages between devices of ranks, by the library of the vendor of Kokkos' devices.
set(CNC_HAS_NCCL OFF)
set(CNC_HAS_RCCL OFF)
if(CNC_ENABLE_MPI AND CNC_WITH_NCCL)
  if(Kokkos_DEVICES MATCHES "CUDA")
    cnc_find_by_path(NCCL CNC_WITH_NCCL HEADER nccl.h LIBRARIES nccl libnccl.so.2
      HELP ": set CNC_NCCL_INCLUDE_DIR and CNC_NCCL_LIBRARY")
  elseif(Kokkos_DEVICES MATCHES "HIP")
    cnc_find_by_path(RCCL CNC_WITH_NCCL HEADER rccl/rccl.h LIBRARIES rccl PATHS "$ENV{ROCM_PATH}" /opt/rocm
      HELP ": set CNC_RCCL_INCLUDE_DIR and CNC_RCCL_LIBRARY")
  elseif(NOT CNC_WITH_NCCL STREQUAL "AUTO")
    message(FATAL_ERROR "CNC_WITH_NCCL goes with a Kokkos for CUDA or HIP.")
  endif()
endif()

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

if(CNC_BUILD_CLI)
  find_package(PNG REQUIRED)
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

# Baselines and peers are optional, a record names those it met.
if(CNC_BUILD_CLI OR CNC_BUILD_TESTS OR CNC_BUILD_PERF)
  include(cnc_kokkos_kernels)
endif()

# Peers that the benchmarks time in the same run.
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
