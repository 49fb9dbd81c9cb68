// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_reserve.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

// A few connections of 32 KiB, in the steps in which the C library asks for memory.
enum { RESERVE_BYTES = 1 << 20 };

void http_reserve_init(struct http_reserve *reserve) {
    struct rlimit limit;
    *reserve = (struct http_reserve){.wanted = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY};
}

bool http_reserve_take(struct http_reserve *reserve) {
    if (reserve->space || !reserve->wanted)
        return true;
    void *space = mmap(NULL, RESERVE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    reserve->space = space == MAP_FAILED ? NULL : space;
    return reserve->space;
}

void http_reserve_lend(struct http_reserve *reserve) {
    if (reserve->space)
        (void)munmap(reserve->space, RESERVE_BYTES);
    reserve->space = NULL;
}
