# SPDX-License-Identifier: Apache-2.0
# Run by cpack when a package is made. The outer archive of a .deb has the modes of files that cpack made under the caller's umask: it
# is written anew, with the same modes for everybody.
foreach(package ${CPACK_PACKAGE_FILES})
  if(package MATCHES "\\.deb$")
    set(folder ${CPACK_TOPLEVEL_DIRECTORY}/members)
    file(MAKE_DIRECTORY ${folder})
    execute_process(COMMAND ${CPACK_TOPDOWND_AR} x ${package} WORKING_DIRECTORY ${folder} COMMAND_ERROR_IS_FATAL ANY)
    file(GLOB members RELATIVE ${folder} ${folder}/control.tar* ${folder}/data.tar*)
    list(SORT members)
    file(REMOVE ${package})
    execute_process(COMMAND ${CPACK_TOPDOWND_AR} rcSD ${package} debian-binary ${members} WORKING_DIRECTORY ${folder}
                    COMMAND_ERROR_IS_FATAL ANY)
    file(REMOVE_RECURSE ${folder})
  endif()
endforeach()
