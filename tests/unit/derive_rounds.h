// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_DERIVE_ROUNDS_H
#define TOPDOWND_TESTS_UNIT_DERIVE_ROUNDS_H

// Readings of rounds that belong to cores. Core and CPU have the same number, and times are whole seconds.

#include "tests/unit/derive_host.h"

static inline void end_core(struct host *host, unsigned core, unsigned from, unsigned to) {
    const struct core_round round = {.core = core, .start_ns = from * SECOND_NS, .end_ns = to * SECOND_NS};
    readings_add_core(host->readings, &round);
}

// A round of a core that was held on event groups.
static inline void end_held(struct host *host, unsigned core, unsigned from, unsigned to, double idle_share) {
    const struct core_round round = {
        .core = core, .start_ns = from * SECOND_NS, .end_ns = to * SECOND_NS, .held = true, .idle_share = idle_share};
    readings_add_core(host->readings, &round);
}

static inline void end_readings(struct host *host, unsigned at, bool round_over) {
    struct readings *readings = host->readings;
    readings->by_core = true;
    readings->round_over = round_over;
    readings->end_ns = at * SECOND_NS;
    snapshot_unref(host->snapshot);
    host->snapshot = snapshot_new(host->layout);
    assert_non_null(host->snapshot);
    derive_round(host->derive, readings, host->snapshot);
    assert_int_equal(host->snapshot->within_round, !round_over);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

#endif
