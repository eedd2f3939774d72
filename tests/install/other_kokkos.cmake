# A client that has another Kokkos than the one that cnc was built with is refused in one sentence.
set(other 99.1.2)
set(kokkos "${WORK_DIR}/kokkos")
file(WRITE "${kokkos}/lib/cmake/Kokkos/KokkosConfig.cmake" "add_library(Kokkos::kokkos INTERFACE IMPORTED)\n")
file(WRITE "${kokkos}/lib/cmake/Kokkos/KokkosConfigVersion.cmake"
  "set(PACKAGE_VERSION ${other})\nset(PACKAGE_VERSION_COMPATIBLE ON)\n")
file(REMOVE_RECURSE "${WORK_DIR}/build")
execute_process(
  COMMAND "${CMAKE_COMMAND}" -S "${CLIENT}" -B "${WORK_DIR}/build" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${CXX}"
    "-DCMAKE_PREFIX_PATH=${PREFIX}" "-DKokkos_ROOT=${kokkos}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "accepted:\n${output}")
endif()
string(REGEX REPLACE "[ \n]+" " " flat "${output}")
set(expected "this cnc was built with Kokkos ${BUILT_WITH}, but Kokkos ${other} was found")
string(FIND "${flat}" "${expected}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "refused, but not with '${expected}':\n${output}")
endif()
