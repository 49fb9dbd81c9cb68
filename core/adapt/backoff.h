// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ADAPT_BACKOFF_H
#define TOPDOWND_CORE_ADAPT_BACKOFF_H

// When to look again for what was not there: the first two times after ten seconds, then after twice as long each time,
// at most an hour. So what returns is found no later than it was away, plus ten seconds.

#include <stdbool.h>
#include <stdint.h>

static const uint64_t BACKOFF_FIRST_NS = UINT64_C(10000000000), BACKOFF_LAST_NS = UINT64_C(3600000000000);

struct backoff {
    uint64_t looked_ns; // the last time
    uint64_t wait_ns;   // from then on; 0: the first time
};

// Begins anew after a look at `looked_ns`.
static inline struct backoff backoff_begin(uint64_t looked_ns) { return (struct backoff){.looked_ns = looked_ns}; }

// Waits longer after a look that found nothing.
static inline struct backoff backoff_again(struct backoff backoff, uint64_t looked_ns) {
    uint64_t twice_ns = 2 * backoff.wait_ns < BACKOFF_LAST_NS ? 2 * backoff.wait_ns : BACKOFF_LAST_NS;
    return (struct backoff){.looked_ns = looked_ns, .wait_ns = backoff.wait_ns == 0 ? BACKOFF_FIRST_NS : twice_ns};
}

static inline uint64_t backoff_ns(struct backoff backoff) {
    return backoff.wait_ns == 0 ? BACKOFF_FIRST_NS : backoff.wait_ns;
}

static inline bool backoff_is_over(struct backoff backoff, uint64_t now_ns) {
    return now_ns - backoff.looked_ns > backoff_ns(backoff);
}

#endif
