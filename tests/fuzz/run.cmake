# SPDX-License-Identifier: Apache-2.0
# A short run of one fuzz target: what it finds new goes to CORPUS in the build folder, never to the seeds, nor to KEPT, which
# nights have found (nightly.sh). An input takes
# hundredths of a second; 30 seconds are allowed because a machine that stands still for five would be called a hang.
file(MAKE_DIRECTORY ${CORPUS})
if(EXISTS ${DICTIONARY})
  set(dictionary -dict=${DICTIONARY})
endif()
if(EXISTS ${KEPT})
  set(kept ${KEPT})
endif()
execute_process(COMMAND ${PROGRAM} -max_total_time=5 -max_len=16384 -timeout=30 -rss_limit_mb=1024 -print_final_stats=1
                        ${dictionary} ${CORPUS} ${SEEDS} ${kept} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM}: ${status}")
endif()
