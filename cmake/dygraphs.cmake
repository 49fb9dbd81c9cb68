# SPDX-License-Identifier: Apache-2.0
# The chart library of the page, dygraphs 2, which is no part of this repository: Debian's libjs-dygraphs has it, elsewhere its
# release on npm. NOTICE has its licence. tests/e2e/test_time.py runs this file by itself.

# dygraphs_find(FOLDERS OUT): the file; ends the configuration with a remedy where there is none.
function(dygraphs_find folders out)
  # a host's, also where another architecture is built for
  find_file(TOPDOWND_DYGRAPHS dygraph.min.js PATHS ${folders} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
            DOC "dygraph.min.js of dygraphs 2, the chart library of the page")
  if(NOT TOPDOWND_DYGRAPHS OR NOT EXISTS ${TOPDOWND_DYGRAPHS})
    message(FATAL_ERROR "dygraph.min.js is not found, the chart library of the page: install Debian's package libjs-dygraphs, or "
                        "unpack dygraphs 2.2.1 of npm and give -DTOPDOWND_DYGRAPHS=.../dist/dygraph.min.js")
  endif()
  file(READ ${TOPDOWND_DYGRAPHS} begin LIMIT 300)
  if(NOT begin MATCHES "dygraphs/blob/v2\\.")
    message(FATAL_ERROR "${TOPDOWND_DYGRAPHS} is not dygraphs 2: the page knows no other version")
  endif()
  set(${out} ${TOPDOWND_DYGRAPHS} PARENT_SCOPE)
endfunction()

# Writes it as it is served: without the name of a map for developers, which is not served.
function(dygraphs_copy from to)
  file(READ ${from} text)
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" text "${text}")
  file(CONFIGURE OUTPUT ${to} CONTENT "${text}" @ONLY) # as it is: it has no @name@
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  dygraphs_find("${FOLDERS}" found)
endif()
