# Kokkos Kernels, a baseline: an installed package, which belongs to an installed Kokkos; with
# CNC_WITH_KOKKOS_KERNELS=ON else a pinned release, built as part of this build. AUTO never builds it.
include(FetchContent)

set(CNC_KOKKOS_KERNELS_RELEASE 5.1.0)
set(CNC_KOKKOS_KERNELS_SHA256 c003cd53126dee651f41a3b003e443950c3030246785ae968055ce015c89e0d5)

# Older packages of Kokkos Kernels give variables, newer ones Kokkos::kokkoskernels. One name for both.
function(cnc_import_kokkos_kernels)
  if(TARGET cnc_kokkos_kernels)
    return()
  endif()
  add_library(cnc_kokkos_kernels INTERFACE IMPORTED)
  if(TARGET Kokkos::kokkoskernels)
    target_link_libraries(cnc_kokkos_kernels INTERFACE Kokkos::kokkoskernels)
  else()
    target_link_libraries(cnc_kokkos_kernels INTERFACE ${KokkosKernels_LIBRARIES} Kokkos::kokkos)
    target_include_directories(cnc_kokkos_kernels SYSTEM INTERFACE ${KokkosKernels_INCLUDE_DIRS})
  endif()
endfunction()

# The packaged Kokkos Kernels 3.4 names BLAS and LAPACK by file, without depending on their packages.
function(cnc_find_missing_link_files result)
  set(missing "")
  foreach(library IN LISTS ARGN)
    if(IS_ABSOLUTE "${library}" AND NOT EXISTS "${library}")
      list(APPEND missing "${library}")
    endif()
  endforeach()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()

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
