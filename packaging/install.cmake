# SPDX-License-Identifier: Apache-2.0
# What lies where on a host, for `cmake --install` and for both packages. The components "deb" and "rpm" are what only
# one of them has.
install(TARGETS topdownd RUNTIME DESTINATION ${CMAKE_INSTALL_SBINDIR})
# A package of its own, so that no server gets libraries for terminals that does not want them.
if(TOPDOWND_TOP)
  install(TARGETS topdownd-top RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/topdownd COMPONENT top)
endif()
install(DIRECTORY specs scenarios DESTINATION ${CMAKE_INSTALL_DATADIR}/topdownd FILES_MATCHING PATTERN "*.json")
install(DIRECTORY exporters/json/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/topdownd FILES_MATCHING PATTERN "*.json")
install(DIRECTORY packaging/remedies DESTINATION ${CMAKE_INSTALL_DATADIR}/topdownd)
install(DIRECTORY packaging/prometheus packaging/grafana DESTINATION ${CMAKE_INSTALL_DATADIR}/topdownd OPTIONAL
        FILES_MATCHING PATTERN "*.yml" PATTERN "*.yaml" PATTERN "*.json")
# Delays that grow, where systemd has them.
if(SYSTEMD_VERSION VERSION_GREATER_EQUAL 254)
  set(TOPDOWND_BACK_OFF "RestartSteps=6\nRestartMaxDelaySec=5min\n")
endif()
configure_file(systemd/socket-activation.conf.in systemd/socket-activation.conf @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/systemd/socket-activation.conf DESTINATION ${CMAKE_INSTALL_DATADIR}/topdownd/systemd)
configure_file(systemd/topdownd.service.in systemd/topdownd.service @ONLY)
configure_file(systemd/topdownd-memory.service.in systemd/topdownd-memory.service @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/systemd/topdownd.service ${CMAKE_BINARY_DIR}/systemd/topdownd-memory.service
              systemd/topdownd.socket DESTINATION lib/systemd/system)
install(FILES packaging/journal/topdownd.catalog DESTINATION lib/systemd/catalog)
install(FILES systemd/topdownd.sysusers DESTINATION lib/sysusers.d RENAME topdownd.conf)

# The configuration belongs to the administrator: an installation never changes a file that is there. The packages have
# it as a conffile.
set(topdownd_etc ${CMAKE_INSTALL_FULL_SYSCONFDIR}/topdownd)
install(CODE "set(configuration \"${topdownd_etc}/topdownd.yaml\")
set(shipped \"${CMAKE_SOURCE_DIR}/config/topdownd.yaml\")")
install(CODE [[
if(NOT EXISTS "$ENV{DESTDIR}${configuration}")
  get_filename_component(folder "${configuration}" DIRECTORY)
  file(INSTALL "${shipped}" DESTINATION "${folder}")
else()
  message(STATUS "Kept: ${configuration} (the new one is ${shipped})")
endif()]])
install(DIRECTORY DESTINATION ${topdownd_etc}/conf.d)

# Completions ask the program, so they name no option themselves.
install(FILES packaging/completion/topdownd.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME topdownd)
install(FILES packaging/completion/topdownd.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _topdownd
        COMPONENT rpm)
install(FILES packaging/completion/topdownd.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions RENAME _topdownd
        COMPONENT deb EXCLUDE_FROM_ALL)

# gzip -n writes no time, so that two builds have the same bytes.
find_program(GZIP gzip REQUIRED)
function(topdownd_install_gz source name folder)
  set(out ${CMAKE_BINARY_DIR}/gz/${name}.gz)
  add_custom_command(OUTPUT ${out} DEPENDS ${source} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/gz
                     COMMAND sh -c "exec \"$1\" -9nc \"$2\" >\"$3\"" gz ${GZIP} ${CMAKE_SOURCE_DIR}/${source} ${out})
  set_property(TARGET topdownd_gz APPEND PROPERTY SOURCES ${out})
  install(FILES ${out} DESTINATION ${folder} ${ARGN})
endfunction()
add_custom_target(topdownd_gz)
add_dependencies(topdownd topdownd_gz) # whoever builds the program alone can install it
file(GLOB manuals RELATIVE ${CMAKE_SOURCE_DIR} CONFIGURE_DEPENDS docs/*.[1-9])
foreach(manual ${manuals})
  get_filename_component(name ${manual} NAME)
  string(REGEX REPLACE ".*\\." "" section ${name})
  topdownd_install_gz(${manual} ${name} ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

set(topdownd_doc ${CMAKE_INSTALL_DATADIR}/doc/topdownd)
include(packaging/pages.cmake)
topdownd_install_gz(CHANGELOG.md changelog ${topdownd_doc})
topdownd_install_gz(packaging/deb/changelog changelog.Debian ${topdownd_doc} COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES packaging/deb/copyright DESTINATION ${topdownd_doc} COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES packaging/deb/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME topdownd
        COMPONENT deb EXCLUDE_FROM_ALL)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/topdownd COMPONENT rpm)
if(TOPDOWND_TOP)
  set(top_doc ${CMAKE_INSTALL_DATADIR}/doc/topdownd-top)
  topdownd_install_gz(packaging/deb/changelog changelog.Debian ${top_doc} COMPONENT top_deb EXCLUDE_FROM_ALL)
  install(FILES packaging/deb/copyright DESTINATION ${top_doc} COMPONENT top_deb EXCLUDE_FROM_ALL)
  install(FILES packaging/deb/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME topdownd-top
          COMPONENT top_deb EXCLUDE_FROM_ALL)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/topdownd-top COMPONENT top_rpm)
endif()

include(packaging/package.cmake)
