// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_BUSY_CLOCK_H
#define TOPDOWND_COLLECTORS_HOST_BUSY_CLOCK_H

// Tells how long CPUs have been busy, and had guests, without interrupting them.

#include <stdbool.h>
#include <stdint.h>

#include "core/host/topology.h"

#define BUSY_CLOCK_OFFLINE UINT64_MAX

struct busy_clock {
    // Writes for each CPU of the topology how long it has been busy until now, from any beginning, in steps of 10 ms or
    // less; BUSY_CLOCK_OFFLINE for a CPU that is offline. `busy_ns` has what was read the last time, 0 at first: no
    // time falls while the CPU is online. False if this is not known now.
    bool (*read)(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns, uint64_t *busy_ns);
    // Writes for each CPU of the topology for how long it has run guests of KVM since the last call. False if this is
    // not known: at the first call, and where it cannot be read, which the next call makes up for.
    bool (*take_guests)(struct busy_clock *clock, const struct topology *topology, uint64_t *guest_ns);
};

#endif
