# cmake -DROOT=<source directory> -P format_files.cmake
#
# The page on adding a format lists the files that name DIA, and no others. Tests that take a format by the name that
# a user gives it do not count.
cmake_policy(VERSION 3.22)

file(STRINGS "${ROOT}/docs/adding_a_format.md" rows REGEX "^\\| `[a-z_/]+/` \\|")
set(listed "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^\\| `([a-z_/]+/)` \\| ([^|]+) \\|" row "${row}")
  set(directory "${CMAKE_MATCH_1}")
  string(REGEX MATCHALL "`[^`]+`" names "${CMAKE_MATCH_2}")
  foreach(name IN LISTS names)
    string(REPLACE "`" "" name "${name}")
    string(REPLACE "<format>" "dia" name "${name}")
    list(APPEND listed "${directory}${name}")
  endforeach()
endforeach()

file(GLOB_RECURSE files RELATIVE "${ROOT}"
  "${ROOT}/include/*" "${ROOT}/src/*" "${ROOT}/backends/*" "${ROOT}/tests/*")
set(naming "")
foreach(file IN LISTS files)
  if(NOT file MATCHES "\\.md$|^tests/(docs|cli|solve|properties)/")
    file(STRINGS "${ROOT}/${file}" lines LIMIT_COUNT 1 REGEX "(^|[^A-Za-z])([Dd]ia|DIA)([^a-z-]|$)")
    if(lines)
      list(APPEND naming "${file}")
    endif()
  endif()
endforeach()

set(missing ${naming})
list(REMOVE_ITEM missing ${listed})
set(superfluous ${listed})
list(REMOVE_ITEM superfluous ${naming})
if(missing OR superfluous)
  message(FATAL_ERROR "docs/adding_a_format.md leaves out: ${missing}; names in vain: ${superfluous}")
endif()
