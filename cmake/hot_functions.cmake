# SPDX-License-Identifier: Apache-2.0
# The daemon sleeps nearly always, and after each sleep its code is cold. Functions that run at a wake-up therefore lie next to one
# another in the program, so that a wake-up touches few pages. cmake/hot_functions.txt lists them. Without a linker that takes the
# order, they lie where they lie.

# Writes the linker script, and lets the compiler give the listed files' functions sections of their own.
function(hot_functions_place program list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[^#]")
  set(files)
  foreach(line ${lines})
    string(REGEX MATCH "^([^:]+): (.+)$" matched "${line}")
    list(APPEND files ${CMAKE_MATCH_1})
    get_filename_component(name ${CMAKE_MATCH_1} NAME)
    string(REGEX REPLACE "([^ ]+)" ".text.\\1 .text.\\1.*" sections "${CMAKE_MATCH_2}") # also parts that the compiler splits off
    string(APPEND text "    *:${name}.o(${sections})\n")
  endforeach()
  set(script ${CMAKE_BINARY_DIR}/hot_functions.ld)
  file(CONFIGURE OUTPUT ${script} CONTENT "SECTIONS {\n  .text.together : {\n${text}  }\n}\nINSERT BEFORE .text;\n" @ONLY)
  list(APPEND CMAKE_REQUIRED_LINK_OPTIONS -Wl,-T,${script})
  check_c_source_compiles("int main(void) { return 0; }" TOPDOWND_LINKER_PLACES)
  if(TOPDOWND_LINKER_PLACES)
    list(REMOVE_DUPLICATES files)
    set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS -ffunction-sections)
    target_link_options(${program} PRIVATE -Wl,-T,${script})
    set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${script})
  endif()
endfunction()
