// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_READERS_H
#define TOPDOWND_DAEMON_ENGINE_READERS_H

// Whether somebody reads the intervals of single CPUs. A reader who comes again within a few minutes, as a collector of
// JSON does, finds them; nobody else pays for them. The engines ask when they derive a snapshot, so that a step that
// only rotates looks at nothing of another thread.

#include <stdbool.h>
#include <stdint.h>

#define READERS_KEPT_NS UINT64_C(300000000000) // after the last one

struct readers {
    bool (*cpus_read)(void *context); // since the last call
    void *context;
    uint64_t cpus_ns; // when this was last true; 0: never
};

bool readers_of_cpus(struct readers *readers, uint64_t now_ns);

#endif
