// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_TAPE_LOG_H
#define TOPDOWND_DAEMON_SOURCE_TAPE_LOG_H

// A log of perf as a tape: finds its spec, and converts it into a recording in memory.

#include "daemon/source/tape.h"

// Reads the tape's file. The caller owns the catalog. 0; -EINVAL with the reason in `errors`, -ENOMEM.
int tape_log_open(struct tape *tape, const struct tape_request *request, struct errors *errors, struct catalog **out);

// Makes the tape's records, and frees the log.
int tape_log_load(struct tape *tape, const struct plan_selection *selections, size_t n_selections,
                  struct errors *errors);
void tape_log_deinit(struct tape_log *log);

#endif
