# SPDX-License-Identifier: Apache-2.0
# Writes the source's revision as C, at each build:
#   cmake -DSOURCE=FOLDER -DOUTPUT=FILE [-DREVISION=TEXT] -P revision.cmake
# It is REVISION if that is given; in a repository the commit, with "-dirty" if files differ from it; in an archive that git
# made the commit that git wrote into revision.txt; else "unknown". The file keeps its time if it would not change, so nothing
# is linked again.
set(found "${REVISION}")
find_program(GIT git)
if(found STREQUAL "" AND GIT AND EXISTS ${SOURCE}/.git) # not the repository around an unpacked archive
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE found
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(found "")
  endif()
endif()
if(found STREQUAL "")
  file(STRINGS ${SOURCE}/cmake/revision.txt found LIMIT_COUNT 1)
endif()
string(LENGTH "${found}" length)
if(length EQUAL 40 AND found MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${found}" 0 12 found)
endif()
if(NOT found MATCHES "^[A-Za-z0-9.+~_-]+$") # also what git has not replaced
  set(found "unknown")
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"daemon/command/command.h\"\nconst char command_revision[] = \"${found}\";\n")
