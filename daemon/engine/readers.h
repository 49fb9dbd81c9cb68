// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_READERS_H
#define TOPDOWND_DAEMON_ENGINE_READERS_H

// Tells the engines whether somebody reads the intervals of single CPUs. A reader who comes again within a few minutes,
// as a collector of JSON does, finds them; nobody else pays for them.

#include "daemon/engine/engine.h"

#define READERS_KEPT_NS UINT64_C(300000000000) // after the last one

struct readers {
    uint64_t cpus_ns; // when CPUs were last read; 0: never
};

// `cpus_read`: they have been since the last call.
void readers_step(struct readers *readers, bool cpus_read, uint64_t now_ns, struct engine *const *engines, size_t n);

#endif
