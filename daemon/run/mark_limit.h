// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_RUN_MARK_LIMIT_H
#define TOPDOWND_DAEMON_RUN_MARK_LIMIT_H

// How often marks may be set: MARK_LIMIT_BURST at once, and one more every MARK_LIMIT_NS. A program that sets one in a
// loop hides what happened, and fills the log.

#include <stdbool.h>
#include <stdint.h>

enum { MARK_LIMIT_BURST = 10 };
#define MARK_LIMIT_NS UINT64_C(6000000000)

struct mark_limit {
    uint64_t full_ns; // when as many as MARK_LIMIT_BURST are allowed again; all zero to begin with
};

// True if one may be set now; it counts then. Times never go back.
bool mark_limit_take(struct mark_limit *limit, uint64_t now_ns);

#endif
