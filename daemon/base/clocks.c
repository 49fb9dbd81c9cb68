// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/clocks.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock) {
    struct timespec time;
    (void)clock_gettime(clock, &time); // these clocks always exist
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

uint64_t clocks_now_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

bool clocks_wait_for(int epoll_fd, uint64_t timeout_us) {
    const struct timespec timeout = {.tv_sec = (time_t)(timeout_us / 1000000),
                                     .tv_nsec = (long)(timeout_us % 1000000 * 1000)};
#ifdef SYS_epoll_pwait2 // since Linux 5.11; glibc has a function for it only since 2.35
    struct epoll_event event;
    long n = syscall(SYS_epoll_pwait2, epoll_fd, &event, 1, &timeout, NULL, 0);
    if (n >= 0 || (errno != ENOSYS && errno != EPERM)) // EPERM: a filter that does not know it
        return n > 0;
#endif
    struct pollfd events = {.fd = epoll_fd, .events = POLLIN};
    return ppoll(&events, 1, &timeout, NULL) > 0;
}

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
