// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_TAPE_SPEC_H
#define TOPDOWND_DAEMON_SOURCE_TAPE_SPEC_H

// The spec of a log of perf, and the core PMU whose counts are taken of it.

#include "daemon/source/tape.h"

// Loads the spec that `option` (--spec: NAME or NAME@PMU) names, or finds it if that is NULL, and sets the tape's
// catalog and PMU. The caller owns the catalog, even on failure. Returns 0, -EINVAL with the reason in `errors`,
// -ENOMEM.
int tape_spec_choose(struct tape *tape, const char *option, const struct specs *specs, struct errors *errors,
                     struct catalog **out);

// The tape's log, over this catalog, with perf's own names of events or without.
struct perf_log_request tape_spec_request(const struct tape *tape, const struct catalog *catalog, bool perfs_names);

#endif
