// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_MEASURE_LEASE_H
#define TOPDOWND_DAEMON_MEASURE_LEASE_H

// A daemon that measures the same host: it is asked to yield the counters for as long as the measurement lasts.
//
// It yields for LEASE_SECONDS, which are renewed: if whoever measures dies, the daemon measures again by itself
// when they are over. What somebody else asked for with `topdownd yield` stands beside it: the longer time wins.

#include <stdint.h>

#include "daemon/base/options.h"

enum { LEASE_SECONDS = 15, LEASE_RENEW_SECONDS = 10 };

enum lease_state {
    LEASE_ALONE, // no daemon listens, or it holds no counters
    LEASE_YIELDED,
    LEASE_DENIED, // one does, and may not be asked
};

struct lease {
    char *path; // of its control socket; owned
    enum lease_state state;
    uint64_t renewed_ns;
};

// Asks the daemon, if there is one. Returns 0 or -ENOMEM.
int lease_begin(struct lease *lease, const struct options *options);

// Call it every second or so: renews the lease when it is time. The context is the struct.
void lease_renew(void *context);

// The daemon measures again.
void lease_end(struct lease *lease);

#endif
