// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/sim_time.h"

// Rivals come and go at exact nanoseconds, so that a simulation's result does not depend on its step size. A window is
// half-open: the rival is present at from_ns and gone at until_ns.

#include <math.h>

uint64_t sim_ns(double seconds) {
    const double seconds_max = 9e9; // 285 years: the sum of two such times fits 64 bits
    if (!(seconds > 0))
        return 0;
    return (uint64_t)llround(fmin(seconds, seconds_max) * 1e9);
}

struct sim_window sim_window_of(const struct scenario_rival *rival) {
    struct sim_window window = {
        .from_ns = sim_ns(rival->from_seconds),
        .until_ns = rival->until_seconds > 0 ? sim_ns(rival->until_seconds) : UINT64_MAX,
        .period_ns = sim_ns(rival->period_seconds),
        .on_ns = sim_ns(rival->on_seconds),
    };
    if (window.on_ns >= window.period_ns)
        window.period_ns = 0; // all of each period
    else if (window.on_ns == 0)
        window.until_ns = 0; // nothing of any period
    return window;
}

bool sim_window_active(const struct sim_window *window, uint64_t now_ns) {
    if (now_ns < window->from_ns || now_ns >= window->until_ns)
        return false;
    return window->period_ns == 0 || (now_ns - window->from_ns) % window->period_ns < window->on_ns;
}

uint64_t sim_window_next_ns(const struct sim_window *window, uint64_t now_ns) {
    if (now_ns >= window->until_ns || window->from_ns >= window->until_ns)
        return UINT64_MAX;
    if (now_ns < window->from_ns)
        return window->from_ns;
    if (window->period_ns == 0)
        return window->until_ns;
    uint64_t phase_ns = (now_ns - window->from_ns) % window->period_ns;
    uint64_t edge_ns = phase_ns < window->on_ns ? window->on_ns : window->period_ns;
    uint64_t next_ns = now_ns - phase_ns + edge_ns;
    return next_ns < window->until_ns ? next_ns : window->until_ns;
}
