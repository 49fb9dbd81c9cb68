# SPDX-License-Identifier: Apache-2.0
# `cmake --preset package && cmake --build --preset package` makes a .deb and an .rpm in build/package. The same source
# gives the same bytes wherever it is built: packaging/timestamps.cmake sets all times.
set(CPACK_GENERATOR DEB RPM)
set(CPACK_PACKAGE_NAME topdownd)
set(CPACK_PACKAGE_VENDOR topdownd)
# Debian's policy wants a mail address, and there is none: this one says where to look, and no host of its name can exist (RFC 6761)
set(CPACK_PACKAGE_CONTACT "topdownd authors <see-SECURITY.md@no-mail.invalid>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "measure the bottlenecks of a host's CPUs, for Prometheus")
set(CPACK_PACKAGE_DESCRIPTION "topdownd counts CPU events on every CPU of a host, all year. It rotates groups
of events over the hardware's few counters and computes Topdown metrics from
them (which share of the pipeline slots retires work, waits for instructions,
waits for data, or is wasted), misses per kilo-instruction and miss ratios. It
serves them to Prometheus, as JSON and as a page for people.")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/packaging/generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/timestamps.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/packaging/archive.cmake)
set(CPACK_TOPDOWND_AR ${CMAKE_AR}) # packaging/archive.cmake uses it
# Two packages: topdownd, and topdownd-top for those who want a view in a terminal.
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_UNSPECIFIED_GROUP main)
set(CPACK_COMPONENT_DEB_GROUP main)
set(CPACK_COMPONENT_RPM_GROUP main)
set(CPACK_COMPONENT_TOP_GROUP top)
set(CPACK_COMPONENT_TOP_DEB_GROUP top)
set(CPACK_COMPONENT_TOP_RPM_GROUP top)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
    WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

set(deb ${CMAKE_SOURCE_DIR}/packaging/deb)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_MAIN_PACKAGE_NAME topdownd)
set(CPACK_DEBIAN_TOP_PACKAGE_NAME topdownd-top)
# libcrypt is opened where passwords are configured, so no tool finds it
set(CPACK_DEBIAN_MAIN_PACKAGE_DEPENDS "libcrypt1, systemd | systemd-standalone-sysusers | systemd-sysusers")
set(CPACK_DEBIAN_TOP_PACKAGE_DEPENDS "topdownd (= ${PROJECT_VERSION}-1)")
if(CMAKE_CROSSCOMPILING)
  # dpkg-shlibdeps knows no packages of the other architecture; a test holds this list against what it finds here
  string(APPEND CPACK_DEBIAN_MAIN_PACKAGE_DEPENDS ", libc6 (>= 2.34), libcjson1 (>= 1.7.13), libgnutls30 (>= 3.7.5), \
libmicrohttpd12 (>= 0.9.75-2), libsystemd0 (>= 248), libyaml-0-2, zlib1g (>= 1:1.1.4)")
  string(APPEND CPACK_DEBIAN_TOP_PACKAGE_DEPENDS ", libc6 (>= 2.34), libcjson1 (>= 1.7.13), libcurl3-gnutls (>= 7.66.0), \
libncursesw6 (>= 6), libtinfo6 (>= 6)")
else()
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_MAIN_PACKAGE_SUGGESTS "topdownd-top, prometheus, linux-perf")
set(CPACK_COMPONENT_GROUP_TOP_DESCRIPTION "The view of topdownd in a terminal: 'topdownd top' shows what a host's CPUs are
bound by and since when, its CPUs and sockets by any metric, and recordings.")
set(CPACK_DEBIAN_MAIN_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}") # below the summary, which both packages have
set(CPACK_DEBIAN_TOP_DESCRIPTION "${CPACK_COMPONENT_GROUP_TOP_DESCRIPTION}")
set(CPACK_DEBIAN_MAIN_PACKAGE_CONTROL_EXTRA ${deb}/conffiles ${deb}/postinst ${deb}/prerm ${deb}/postrm)
set(CPACK_DEBIAN_MAIN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(rpm ${CMAKE_SOURCE_DIR}/packaging/rpm)
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE 1)
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0 AND MIT") # MIT: dygraphs (NOTICE)
set(CPACK_RPM_PACKAGE_GROUP System/Monitoring)
set(CPACK_RPM_MAIN_PACKAGE_NAME topdownd)
set(CPACK_RPM_TOP_PACKAGE_NAME topdownd-top)
set(CPACK_RPM_MAIN_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_RPM_TOP_PACKAGE_DESCRIPTION "${CPACK_COMPONENT_GROUP_TOP_DESCRIPTION}")
set(CPACK_RPM_TOP_PACKAGE_SUMMARY "Show live in a terminal what a host's CPUs are bound by")
set(CPACK_RPM_TOP_PACKAGE_REQUIRES "topdownd = ${PROJECT_VERSION}-1")
set(CPACK_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_COMPRESSION_TYPE xz)
set(CPACK_RPM_MAIN_PACKAGE_REQUIRES "(libcrypt.so.2()(64bit) or libcrypt.so.1()(64bit))")
set(CPACK_RPM_MAIN_PACKAGE_REQUIRES_POST systemd)
set(CPACK_RPM_MAIN_POST_INSTALL_SCRIPT_FILE ${rpm}/post)
set(CPACK_RPM_MAIN_PRE_UNINSTALL_SCRIPT_FILE ${rpm}/preun)
set(CPACK_RPM_MAIN_POST_UNINSTALL_SCRIPT_FILE ${rpm}/postun)
set(CPACK_RPM_MAIN_USER_FILELIST "%config(noreplace) /etc/topdownd/topdownd.yaml" "%license /usr/share/licenses/topdownd/LICENSE" "%license /usr/share/licenses/topdownd/NOTICE"
    "%doc /usr/share/doc/topdownd")
set(CPACK_RPM_TOP_USER_FILELIST "%license /usr/share/licenses/topdownd-top/LICENSE")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /etc /usr/sbin /usr/libexec /lib /usr/lib/systemd /usr/lib/systemd/system /usr/lib/systemd/catalog /usr/lib/sysusers.d
    /usr/share/bash-completion /usr/share/bash-completion/completions /usr/share/licenses /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man8 /usr/share/doc)
# who built it and when is no part of what was built
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _buildhost topdownd
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1
%define _build_id_links none
%define __strip ${CMAKE_STRIP}")

set(CPACK_TOPDOWND_TOP ${TOPDOWND_TOP})
set(CPACK_TOPDOWND_CHANGELOG ${deb}/changelog) # packaging/generator.cmake reads it

if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE amd64)
endif()
set(CPACK_RPM_PACKAGE_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
include(CPack)
