# SPDX-License-Identifier: Apache-2.0
# Read by cpack before each package. The time of a package is that of the newest entry of the Debian changelog, unless the
# environment says another one.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
  file(STRINGS ${CPACK_TOPDOWND_CHANGELOG} date REGEX "^ -- ")
  list(GET date 0 date)
  string(REGEX REPLACE "^ -- .*>  " "" date "${date}")
  execute_process(COMMAND date -u -d "${date}" +%s OUTPUT_VARIABLE epoch OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(ENV{SOURCE_DATE_EPOCH} ${epoch})
endif()
string(TOLOWER ${CPACK_GENERATOR} own)
set(CPACK_COMPONENTS_ALL Unspecified ${own})
if(CPACK_TOPDOWND_TOP)
  list(APPEND CPACK_COMPONENTS_ALL top top_${own})
endif()
