# SPDX-License-Identifier: Apache-2.0
# Run by cpack on the folder that becomes a package: every file has the time of the release, and no mode depends on the umask of
# whoever builds or of whoever unpacked the source.
set(programs -path */usr/sbin/* -o -path */usr/libexec/*)
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -mindepth 1 ( -type d -o ${programs} ) -exec chmod 755 {} +
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -type f -not ( ${programs} ) -exec chmod 644 {} +
                COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +
                COMMAND_ERROR_IS_FATAL ANY)
