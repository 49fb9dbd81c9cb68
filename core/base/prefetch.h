// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_PREFETCH_H
#define TOPDOWND_CORE_BASE_PREFETCH_H

// Asks for memory that is needed soon, so that it comes while other work is done. A round of 1,024 CPUs touches about
// 10 MB, more than a core's own caches hold.

#include <stddef.h>

enum { PREFETCH_LINE = 64 }; // bytes of a cache line

static inline void prefetch(const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += PREFETCH_LINE)
        __builtin_prefetch((const char *)from + at, 1);
}

#endif
