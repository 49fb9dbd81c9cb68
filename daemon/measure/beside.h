// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_BESIDE_H
#define TOPDOWND_DAEMON_MEASURE_BESIDE_H

// A daemon that measures the same host: it is asked to yield the counters for as long as the measurement lasts.
//
// It yields for BESIDE_LEASE_SECONDS, which are renewed: if whoever measures dies, the daemon measures again by itself
// when they are over. What somebody else asked for with `topdownd yield` stands beside it: the longer time wins.

#include <stdint.h>

#include "daemon/base/options.h"

enum { BESIDE_LEASE_SECONDS = 15, BESIDE_RENEW_SECONDS = 10 };

enum beside_state {
    BESIDE_ALONE, // no daemon listens, or it holds no counters
    BESIDE_YIELDED,
    BESIDE_DENIED, // one does, and may not be asked
};

struct beside {
    char *path; // of its control socket; owned
    enum beside_state state;
    uint64_t renewed_ns;
};

// Asks the daemon, if there is one. Returns 0 or -ENOMEM.
int beside_begin(struct beside *beside, const struct options *options);

// Call it every second or so: renews the lease when it is time. The context is the struct.
void beside_renew(void *context);

// The daemon measures again.
void beside_end(struct beside *beside);

#endif
