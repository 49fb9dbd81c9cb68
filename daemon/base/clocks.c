// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clocks.h"

#include <stddef.h>
#include <time.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec time;
    (void)clock_gettime(clock, &time); // these clocks always exist
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

uint64_t clocks_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

static uint64_t kernel_monotonic_ns(const void *context) {
    (void)context;
    return clocks_now_ns();
}

static uint64_t kernel_thread_cpu_ns(const void *context) {
    (void)context;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static double kernel_realtime_seconds(const void *context) {
    (void)context;
    return (double)clock_ns(CLOCK_REALTIME) * 1e-9;
}

const struct clocks clocks_kernel = {.monotonic_ns = kernel_monotonic_ns,
                                     .thread_cpu_ns = kernel_thread_cpu_ns,
                                     .realtime_seconds = kernel_realtime_seconds,
                                     .context = NULL};

static uint64_t virtual_now(const void *context) { return *(const uint64_t *)context; }

static uint64_t no_cpu_time(const void *context) {
    (void)context;
    return 0;
}

static double no_time_of_day(const void *context) {
    (void)context;
    return 0;
}

struct clocks clocks_virtual(const uint64_t *now_ns) {
    return (struct clocks){.monotonic_ns = virtual_now,
                           .thread_cpu_ns = no_cpu_time,
                           .realtime_seconds = no_time_of_day,
                           .context = now_ns};
}
