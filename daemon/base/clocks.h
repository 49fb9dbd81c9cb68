// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_BASE_CLOCKS_H
#define TOPDOWND_DAEMON_BASE_CLOCKS_H

// The clocks, which only daemon/ reads. The time of a step is an argument; clocks give what an argument cannot: the
// cost of a step, and the time of day. Tests pass clocks of their own.

#include <stdbool.h>
#include <stdint.h>

struct clocks {
    uint64_t (*monotonic_ns)(const void *context);
    uint64_t (*thread_cpu_ns)(const void *context);  // CPU time of the calling thread
    double (*realtime_seconds)(const void *context); // since the epoch
    const void *context;
};

extern const struct clocks clocks_kernel;

// For a simulated or replayed host, whose time is where `now_ns` (borrowed) stands: what is done there costs nothing,
// and the time of day is unknown (0).
struct clocks clocks_virtual(const uint64_t *now_ns);

// The kernel's CLOCK_MONOTONIC.
uint64_t clocks_now_ns(void);

// Waits until a descriptor of epoll(7) has an event, at most so long, and leaves the event there. False if there is
// none, or a signal came. Nothing that the kernel has wakes up cheaper, but for a plain sleep.
bool clocks_wait_for(int epoll_fd, uint64_t timeout_us);

#endif
