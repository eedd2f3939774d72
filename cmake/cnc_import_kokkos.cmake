# Evens out what the packaged versions of Kokkos offer. Used by our own build and
# by the installed package, so that both see the same targets.

# Kokkos 3.4 as packaged by Debian computes an include directory that does not exist, which CMake
# refuses; the right one is in a variable. Imported targets count as system headers, so a client's
# warning flags do not apply to Kokkos.
function(cnc_repair_kokkos)
  if(NOT TARGET Kokkos::kokkos OR NOT Kokkos_INCLUDE_DIRS)
    return()
  endif()
  get_target_property(imported Kokkos::kokkos IMPORTED)
  if(NOT imported)
    return()
  endif()
  get_target_property(directories Kokkos::kokkos INTERFACE_INCLUDE_DIRECTORIES)
  foreach(directory IN LISTS directories)
    if(IS_ABSOLUTE "${directory}" AND NOT EXISTS "${directory}")
      set_target_properties(Kokkos::kokkos PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
    endif()
  endforeach()
endfunction()

# The language in which sources that include this Kokkos must be compiled: CXX, or CUDA or HIP when it was
# built as CMake's language of that name.
function(cnc_kokkos_language result)
  set(language CXX)
  foreach(device CUDA HIP)
    if(device IN_LIST Kokkos_DEVICES AND "${Kokkos_COMPILE_LANGUAGE}" STREQUAL device)
      set(language ${device})
    endif()
  endforeach()
  set(${result} ${language} PARENT_SCOPE)
endfunction()

# cnc_use_kokkos_compiler(TARGET [EXCEPT regex])
#
# Compiles the .cpp files of a target as Kokkos needs it, those that match the expression as C++. Call it
# when all sources are added, in the directory of the target.
function(cnc_use_kokkos_compiler target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
  cnc_kokkos_language(language)
  if(language STREQUAL "CXX")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  get_target_property(directory ${target} SOURCE_DIR)
  foreach(source IN LISTS sources)
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${directory}")
    if(source MATCHES "\\.cpp$" AND NOT (arg_EXCEPT AND path MATCHES "${arg_EXCEPT}"))
      set_source_files_properties("${path}" TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE ${language})
    endif()
  endforeach()
endfunction()
