# SPDX-License-Identifier: Apache-2.0
# A short run of one fuzz target: what it finds new goes to CORPUS in the build folder, never to the seeds.
file(MAKE_DIRECTORY ${CORPUS})
if(EXISTS ${DICTIONARY})
  set(dictionary -dict=${DICTIONARY})
endif()
execute_process(COMMAND ${PROGRAM} -max_total_time=10 -max_len=16384 -timeout=5 -rss_limit_mb=1024 -print_final_stats=1
                        ${dictionary} ${CORPUS} ${SEEDS} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: ${status}")
endif()
