# Device backends: say in one sentence what is missing instead of failing somewhere in a compiler.

function(cnc_require_device_backend name language)
  if(NOT EXISTS "${PROJECT_SOURCE_DIR}/backends/${name}/CMakeLists.txt")
    string(TOUPPER ${name} upper)
    message(FATAL_ERROR
      "The ${name} backend is not part of CNC ${PROJECT_VERSION}: this version solves on the host. "
      "Configure with -DCNC_ENABLE_${upper}=OFF, or use the preset 'cpu'.")
  endif()
  include(CheckLanguage)
  check_language(${language})
  if(NOT CMAKE_${language}_COMPILER)
    message(FATAL_ERROR
      "The ${name} backend needs a ${language} compiler and CMake found none. Install the tool "
      "chain or point CMAKE_${language}_COMPILER to it.")
  endif()
endfunction()

if(CNC_ENABLE_CUDA)
  cnc_require_device_backend(cuda CUDA)
  enable_language(CUDA)
endif()
if(CNC_ENABLE_HIP)
  cnc_require_device_backend(hip HIP)
  enable_language(HIP)
endif()
