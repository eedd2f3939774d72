# The installed package: library, headers, command line and what find_package(cnc) reads.
include(CMakePackageConfigHelpers)

set(CNC_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/cnc")

set(CNC_LIBRARIES cnc)
if(TARGET cnc_nl)
  list(APPEND CNC_LIBRARIES cnc_nl)
endif()
set(CNC_HEADERS_LEFT_OUT PATTERN "distributed*.hpp" EXCLUDE)
if(TARGET cnc_mpi)
  list(APPEND CNC_LIBRARIES cnc_mpi)
  set(CNC_HEADERS_LEFT_OUT "")
endif()
install(TARGETS ${CNC_LIBRARIES} EXPORT cncTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/cnc" "${PROJECT_BINARY_DIR}/include/cnc"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h" ${CNC_HEADERS_LEFT_OUT})
install(EXPORT cncTargets NAMESPACE cnc:: DESTINATION "${CNC_PACKAGE_DIR}")

# A shared library has its private dependencies inside; only users of a static one must find them.
set(CNC_IS_STATIC ON)
if(BUILD_SHARED_LIBS)
  set(CNC_IS_STATIC OFF)
endif()
# Where this build found Kokkos; a hint only, so that the package may move to another prefix. One
# that was built along with us is installed along with us.
set(CNC_KOKKOS_HINT "")
if(NOT CNC_KOKKOS_IS_FETCHED)
  set(CNC_KOKKOS_HINT "${Kokkos_DIR}")
endif()
set(CNC_KOKKOS_VERSION "${Kokkos_VERSION}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cncConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/cncConfig.cmake" INSTALL_DESTINATION "${CNC_PACKAGE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/cncConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/cncConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/cncConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/cnc_import_kokkos.cmake"
  DESTINATION "${CNC_PACKAGE_DIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}")

foreach(library cnc_nl cnc_mpi)
  if(TARGET ${library} AND BUILD_SHARED_LIBS)
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
endforeach()
foreach(program cnc_cli cnc_parameterize cnc_smooth)
  if(NOT TARGET ${program})
    continue()
  endif()
  install(TARGETS ${program} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  if(BUILD_SHARED_LIBS)
    # Programs find their library wherever the tree is moved.
    file(RELATIVE_PATH to_library "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
endforeach()
