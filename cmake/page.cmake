# SPDX-License-Identifier: Apache-2.0
# The files of the page for people, as bytes in a C file (exporters/page/page_files.h): each as it is, and compressed.

find_program(GZIP gzip REQUIRED)

function(page_type name out)
  if(name MATCHES "\\.html$")
    set(type "text/html; charset=utf-8")
  elseif(name MATCHES "\\.css$")
    set(type "text/css; charset=utf-8")
  elseif(name MATCHES "\\.js$")
    set(type "text/javascript; charset=utf-8")
  else()
    message(FATAL_ERROR "${name}: the page has no files of this kind")
  endif()
  set(${out} "${type}" PARENT_SCOPE)
endfunction()

# Bytes of a file as the elements of an array.
function(page_bytes path out)
  file(READ ${path} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," hex "${hex}")
  set(${out} "${hex}" PARENT_SCOPE)
endfunction()

# page_files_embed(OUTPUT NAME PATH [NAME PATH ...]): the name is that below /ui/.
function(page_files_embed output)
  set(arrays "")
  set(rows "")
  set(n 0)
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest name path)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    execute_process(COMMAND ${GZIP} -9nc ${path} OUTPUT_FILE ${CMAKE_BINARY_DIR}/page.gz COMMAND_ERROR_IS_FATAL ANY)
    page_bytes(${path} plain)
    page_bytes(${CMAKE_BINARY_DIR}/page.gz compressed)
    page_type(${name} type)
    file(SHA256 ${path} tag)
    string(SUBSTRING ${tag} 0 16 tag)
    string(APPEND arrays "static const unsigned char plain_${n}[] = {${plain}};\nstatic const unsigned char gzip_${n}[] = {${compressed}};\n")
    string(APPEND rows "    {\"${name}\", \"${type}\", \"\\\"${tag}\\\"\", plain_${n}, gzip_${n}, sizeof plain_${n}, sizeof gzip_${n}},\n")
    math(EXPR n "${n} + 1")
  endwhile()
  file(CONFIGURE OUTPUT ${output} CONTENT "#include \"exporters/page/page_files.h\"
@arrays@const struct page_file page_files[] = {
@rows@};
const size_t page_files_n = @n@;
" @ONLY)
endfunction()
