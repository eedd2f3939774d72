# Device backends: which tool chain and which architectures, or in one sentence what is missing.

function(cnc_require_device_backend name language)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/backends/${name}/CMakeLists.txt")
    string(TOUPPER ${name} upper)
    message(FATAL_ERROR
      "The ${name} backend is not part of CNC ${PROJECT_VERSION}. "
      "Configure with -DCNC_ENABLE_${upper}=OFF, or use another preset.")
  endif()
  include(CheckLanguage)
  check_language(${language})
  if(NOT CMAKE_${language}_COMPILER)
    message(FATAL_ERROR
      "The ${name} backend needs a ${language} compiler and CMake found none. Install the tool "
      "chain or point CMAKE_${language}_COMPILER to it.")
  endif()
endfunction()

# Of the architectures that we tune for those that this nvcc knows; the newest includes PTX, from which a
# driver makes code for later ones.
function(cnc_default_cuda_architectures result)
  execute_process(COMMAND "${CMAKE_CUDA_COMPILER}" --list-gpu-arch
    OUTPUT_VARIABLE known ERROR_QUIET)
  set(architectures "")
  foreach(architecture 80 90 100)
    if(known MATCHES "compute_${architecture}[ \n\r]")
      list(APPEND architectures ${architecture})
    endif()
  endforeach()
  if(NOT architectures)
    set(architectures 80)
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()

if(CNC_ENABLE_CUDA)
  # A tool kit is often installed beside the search path.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    find_program(CNC_NVCC nvcc HINTS /usr/local/cuda/bin)
    mark_as_advanced(CNC_NVCC)
    set(CMAKE_CUDA_COMPILER "${CNC_NVCC}" CACHE FILEPATH "CUDA compiler")
  endif()
  cnc_require_device_backend(cuda CUDA)
  set(CNC_CUDA_ARCHITECTURES_CHOSEN OFF)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    cnc_default_cuda_architectures(CMAKE_CUDA_ARCHITECTURES)
    set(CNC_CUDA_ARCHITECTURES_CHOSEN ON)
  endif()
  enable_language(CUDA)
  # CMake 3.25.1 and older do not know that nvcc speaks C++20, which it does since 12.0.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  find_package(CUDAToolkit REQUIRED)
endif()

option(CNC_HIP_ON_CUDA "Build the hip backend for NVIDIA GPUs, to test its launchers there" OFF)
set(CNC_HIP_ARCHITECTURES "" CACHE STRING
  "AMD GPUs to compile for (gfx90a;gfx942;gfx1100), empty for those of them that hipcc knows")
set(CNC_WITH_ROCSPARSE "AUTO" CACHE STRING "rocSPARSE as a baseline: AUTO (if installed), ON, OFF")
set_property(CACHE CNC_WITH_ROCSPARSE PROPERTY STRINGS AUTO ON OFF)

# Of the architectures that we tune for those that this hipcc and its device libraries know.
function(cnc_default_hip_architectures result)
  set(source "${PROJECT_BINARY_DIR}/CMakeFiles/hip_probe.hip")
  file(WRITE "${source}" "#include <hip/hip_runtime.h>\n__global__ void probe() {}\n")
  set(architectures "")
  foreach(architecture gfx90a gfx942 gfx1100)
    execute_process(
      COMMAND "${CMAKE_COMMAND}" -E env HIP_PLATFORM=amd "TMPDIR=${PROJECT_BINARY_DIR}/CMakeFiles"
        "${CNC_HIPCC}" -x hip
        --offload-arch=${architecture} -c "${source}" -o "${source}.o"
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(NOT failed)
      list(APPEND architectures ${architecture})
    endif()
  endforeach()
  if(NOT architectures)
    message(FATAL_ERROR "${CNC_HIPCC} compiles for none of gfx90a, gfx942 and gfx1100. "
      "Set CNC_HIP_ARCHITECTURES, or install its device libraries.")
  endif()
  set(${result} "${architectures}" PARENT_SCOPE)
endfunction()

if(CNC_HIP_ON_CUDA)
  if(NOT CNC_ENABLE_CUDA OR CNC_ENABLE_HIP)
    message(FATAL_ERROR "CNC_HIP_ON_CUDA goes with CNC_ENABLE_CUDA and without CNC_ENABLE_HIP.")
  endif()
  set(CNC_HIP_WAVES 32)
elseif(CNC_ENABLE_HIP)
  find_program(CNC_HIPCC hipcc HINTS ENV HIP_PATH ENV ROCM_PATH PATHS /opt/rocm PATH_SUFFIXES bin)
  find_library(CNC_HIP_LIBRARY amdhip64 HINTS ENV HIP_PATH ENV ROCM_PATH PATHS /opt/rocm)
  mark_as_advanced(CNC_HIPCC CNC_HIP_LIBRARY)
  if(NOT CNC_HIPCC OR NOT CNC_HIP_LIBRARY)
    message(FATAL_ERROR
      "The hip backend needs hipcc and libamdhip64 (Debian: hipcc, libamdhip64-dev and "
      "rocm-device-libs; AMD: ROCm). Set CNC_HIPCC and CNC_HIP_LIBRARY where they are not found.")
  endif()
  execute_process(COMMAND "${CNC_HIPCC}" --version OUTPUT_VARIABLE CNC_HIP_VERSION ERROR_QUIET)
  string(REGEX REPLACE ".*HIP version: *([0-9.]+).*" "\\1" CNC_HIP_VERSION "${CNC_HIP_VERSION}")
  if(NOT CNC_HIP_ARCHITECTURES)
    cnc_default_hip_architectures(known)
    set_property(CACHE CNC_HIP_ARCHITECTURES PROPERTY VALUE "${known}")
  endif()
  message(STATUS "HIP ${CNC_HIP_VERSION} for ${CNC_HIP_ARCHITECTURES} with ${CNC_HIPCC}")
  # Waves have 64 lanes on gfx9 and 32 on what came after it.
  set(CNC_HIP_WAVES "")
  foreach(architecture IN LISTS CNC_HIP_ARCHITECTURES)
    if(architecture MATCHES "^gfx9")
      list(APPEND CNC_HIP_WAVES 64)
    else()
      list(APPEND CNC_HIP_WAVES 32)
    endif()
  endforeach()
  list(REMOVE_DUPLICATES CNC_HIP_WAVES)
  list(SORT CNC_HIP_WAVES)
  # A Kokkos with HIP is compiled either by hipcc as the C++ compiler or as CMake's language HIP.
  if(CNC_DEVICE_KOKKOS AND NOT CMAKE_CXX_COMPILER MATCHES "hipcc|amdclang")
    cnc_require_device_backend(hip HIP)
    enable_language(HIP)
    set(CMAKE_HIP_STANDARD 20)
    set(CMAKE_HIP_STANDARD_REQUIRED ON)
    set(CMAKE_HIP_EXTENSIONS OFF)
  endif()
endif()
