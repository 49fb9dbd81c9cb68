// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/mark_limit.h"

bool mark_limit_take(struct mark_limit *limit, uint64_t now_ns) {
    uint64_t full_ns = limit->full_ns > now_ns ? limit->full_ns : now_ns;
    if (full_ns - now_ns > (MARK_LIMIT_BURST - 1) * MARK_LIMIT_NS)
        return false;
    limit->full_ns = full_ns + MARK_LIMIT_NS;
    return true;
}
