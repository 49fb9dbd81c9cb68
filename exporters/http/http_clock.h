// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_CLOCK_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_CLOCK_H

// The only clocks outside daemon/: a client's time limit is unrelated to measuring.

#include <stdint.h>
#include <time.h>

static inline uint64_t http_clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Also runs while the host is suspended: the age of what is published.
static inline uint64_t http_clock_boot_ms(void *context) {
    (void)context;
    return http_clock_ms(CLOCK_BOOTTIME);
}

#endif
