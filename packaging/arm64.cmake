# SPDX-License-Identifier: Apache-2.0
# `cmake --preset package-arm64` builds for arm64 on another architecture, against Debian's packages for arm64 in a private root: a
# folder of the user's cache, which tests/vm/sysroot.py fills from the machine's Debian mirrors the first time. Neither the machine's
# packages nor its list of architectures change.
if(NOT TOPDOWND_SYSROOT)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${CMAKE_SOURCE_DIR}/tests/e2e PYTHONDONTWRITEBYTECODE=1
                          python3 ${CMAKE_SOURCE_DIR}/tests/vm/sysroot.py
                  OUTPUT_VARIABLE TOPDOWND_SYSROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
endif()
include(${CMAKE_CURRENT_LIST_DIR}/../tests/vm/aarch64.cmake)
