# The code blocks of Markdown pages, by what is done with them. The opening fence says which kind a block is:
#
#   ```cpp program    a whole program: compiled, and run
#   ```cpp body       statements: those of a page, in order, are one main() after the includes below
#   ```sh run         commands that need nothing but cnc in the search path: run, those of a page in order
#   ```sh build       commands that install or build, which no test repeats: parsed, and the presets and
#                     files that they name must exist
#   ```cmake client   what follows add_executable(my_program ...) in a client: configured
#   ```text           no code: what a program prints, a formula, a tree of files

cmake_policy(VERSION 3.22)

set(cnc_block_kinds "cpp program" "cpp body" "sh run" "sh build" "cmake client" "text")

# cnc_read_blocks(FILE RESULT) sets RESULT_count, RESULT_<i>_kind, RESULT_<i>_line and RESULT_<i>_text of every
# block, and RESULT_errors. The text is never handled as a list: code is full of semicolons and brackets.
function(cnc_read_blocks file result)
  file(READ "${file}" rest)
  string(PREPEND rest "\n")
  set(line 0)  # of the newline at the beginning of rest
  set(count 0)
  set(errors "")
  cmake_path(GET file FILENAME page)
  if(rest MATCHES "\n[ \t]+(```|~~~)|\n~~~")
    string(APPEND errors "${page}: a fence is indented or made of tildes\n")
  endif()

  while(TRUE)
    string(FIND "${rest}" "\n```" start)
    set(prose "${rest}")
    if(NOT start EQUAL -1)
      string(SUBSTRING "${rest}" 0 ${start} prose)
    endif()
    if(prose MATCHES "\n\n    ")
      string(APPEND errors "${page}: an indented block after line ${line} declares no kind\n")
    endif()
    if(start EQUAL -1)
      break()
    endif()
    cnc_count_lines("${prose}" lines)
    math(EXPR line "${line} + ${lines} + 1")

    math(EXPR start "${start} + 4")
    string(SUBSTRING "${rest}" ${start} -1 rest)
    string(FIND "${rest}" "\n" end_of_line)
    string(FIND "${rest}" "\n```\n" end)
    if(end EQUAL -1)
      string(APPEND errors "${page}:${line}: the block has no end\n")
      break()
    endif()
    string(SUBSTRING "${rest}" 0 ${end_of_line} kind)
    math(EXPR first "${end_of_line} + 1")
    math(EXPR length "${end} - ${end_of_line}")
    string(SUBSTRING "${rest}" ${first} ${length} text)
    if(NOT kind IN_LIST cnc_block_kinds)
      string(APPEND errors "${page}:${line}: '${kind}' is no kind of block\n")
    endif()
    set(${result}_${count}_kind "${kind}" PARENT_SCOPE)
    math(EXPR first_line "${line} + 1")
    set(${result}_${count}_line ${first_line} PARENT_SCOPE)
    set(${result}_${count}_text "${text}" PARENT_SCOPE)
    math(EXPR count "${count} + 1")

    cnc_count_lines("${text}" lines)
    math(EXPR line "${first_line} + ${lines}")
    math(EXPR after "${end} + 4")
    string(SUBSTRING "${rest}" ${after} -1 rest)
  endwhile()
  set(${result}_count ${count} PARENT_SCOPE)
  set(${result}_errors "${errors}" PARENT_SCOPE)
endfunction()

function(cnc_count_lines text result)
  string(REGEX REPLACE "[^\n]+" "" newlines "${text}")
  string(LENGTH "${newlines}" lines)
  set(${result} ${lines} PARENT_SCOPE)
endfunction()

# cnc_check_build_commands(ROOT WHERE TEXT RESULT): a block of the kind "sh build". RESULT is what is wrong.
function(cnc_check_build_commands root where text result)
  set(errors "")
  execute_process(COMMAND bash -n -c "${text}" RESULT_VARIABLE failed ERROR_VARIABLE reason)
  if(failed)
    string(APPEND errors "${where}: ${reason}\n")
  endif()
  file(READ "${root}/CMakePresets.json" presets)
  string(REGEX MATCHALL "--preset[ =]+[A-Za-z0-9-]+" named "${text}")
  foreach(preset IN LISTS named)
    string(REGEX REPLACE "^--preset[ =]+" "" preset "${preset}")
    if(NOT presets MATCHES "\"name\": \"${preset}\"")
      string(APPEND errors "${where}: there is no preset '${preset}'\n")
    endif()
  endforeach()
  string(REGEX MATCHALL "(^|[ \n])(cmake|perf|examples|docs|tests)/[A-Za-z0-9_./-]+" named "${text}")
  foreach(path IN LISTS named)
    string(STRIP "${path}" path)
    if(NOT EXISTS "${root}/${path}")
      string(APPEND errors "${where}: there is no file '${path}'\n")
    endif()
  endforeach()
  set(${result} "${errors}" PARENT_SCOPE)
endfunction()

# cmake -DROOT=<source directory> "-DPAGES=a.md;b.md" -P blocks.cmake: fails, and says why, unless every block
# declares its kind and every "sh build" holds.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(all_errors "")
  foreach(page IN LISTS PAGES)
    cnc_read_blocks("${page}" block)
    string(APPEND all_errors "${block_errors}")
    set(i 0)
    while(i LESS block_count)
      if(block_${i}_kind STREQUAL "sh build")
        cnc_check_build_commands("${ROOT}" "${page}:${block_${i}_line}" "${block_${i}_text}" errors)
        string(APPEND all_errors "${errors}")
      endif()
      math(EXPR i "${i} + 1")
    endwhile()
  endforeach()
  if(NOT all_errors STREQUAL "")
    message(FATAL_ERROR "${all_errors}")
  endif()
endif()
