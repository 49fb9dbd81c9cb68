// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_WATCH_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_WATCH_H

// Looks whether PMUs have come or gone: a module was loaded, a device of CXL was plugged in; or whether their boxes
// have: a socket came online. One pass over a folder of sysfs every minute, and every five seconds while the host has
// just started or changed, as drivers come one by one. Masks are read only if other CPUs are online than at the last
// look, because a large host has hundreds; and by the look that follows, as a CPU is online before drivers put it into
// their masks (kernel/cpu.c: their callbacks run after CPUHP_AP_ONLINE_IDLE).

#include "daemon/base/options.h"

#define UNCORE_WATCH_NS UINT64_C(60000000000)
#define UNCORE_WATCH_SOON_NS UINT64_C(5000000000) // for UNCORE_WATCH_NS after a start or a change

struct uncore_watch {
    uint64_t due_ns, busy_until_ns;
    uint64_t seen;   // what the folder had; 0: not looked yet
    uint64_t online; // the CPUs
    uint64_t masks;  // those that read boxes
    bool stirred;    // the last look saw other PMUs or other CPUs
};

// True if there are other PMUs than at the last look, or other CPUs read their boxes. The first call only looks: it
// belongs before the host's PMUs are looked for, so that what changes from then on is seen.
bool uncore_watch_step(struct uncore_watch *watch, const struct options *options, uint64_t now_ns);

#endif
