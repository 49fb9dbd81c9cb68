// SPDX-License-Identifier: Apache-2.0
#include "core/tally/plausible.h"

#include <math.h>
#include <string.h>

static const double NS = 1e-9;

// The kernel stops its clock and the counters within this time of each other.
static const uint64_t SKEW_NS = 1000000;
// The caller reads its clock up to this long before the kernel does: it may be stopped in between.
static const uint64_t LATE_NS = UINT64_C(10000000000);

// A difference of two counts that is negative.
static bool fell(uint64_t difference) { return difference > INT64_MAX; }

static bool times_are_possible(const struct window *window, uint64_t elapsed_ns) {
    uint64_t enabled_ns = window->enabled_ns;
    if (fell(enabled_ns) || fell(window->running_ns) || window->running_ns > enabled_ns + SKEW_NS)
        return false;
    return enabled_ns <= LATE_NS || enabled_ns - LATE_NS <= elapsed_ns;
}

// How long a counter needs at least to count so much.
static uint64_t least_ns(uint64_t count, uint64_t per_cycle) {
    return count / (per_cycle * PLAUSIBLE_CYCLES_A_NANOSECOND);
}

static bool count_is_possible(const struct catalog_event *event, uint64_t count, uint64_t most_ns) {
    uint64_t per_cycle = event->fixed || event->topdown ? PLAUSIBLE_FIXED_A_CYCLE
                         : event->code.pmu > 0          ? PLAUSIBLE_SUMS_A_CYCLE
                                                        : PLAUSIBLE_OTHERS_A_CYCLE;
    return !fell(count) && least_ns(count, per_cycle) <= most_ns;
}

static bool counts_are_possible(const struct window *window, const struct plan *plan, const double *most) {
    const struct plan_group *group = &plan->groups[window->group];
    uint64_t most_ns = window->enabled_ns + SKEW_NS;
    bool possible = true;
    for (size_t i = 0; i < group->n_events && possible; i++)
        if (most && most[i] < INFINITY)
            possible = !fell(window->counts[i]) && (double)window->counts[i] <= most[i] * NS * (double)most_ns;
        else if (least_ns(window->counts[i], PLAUSIBLE_FIXED_A_CYCLE) > most_ns) // rare: look at the event
            possible = count_is_possible(&plan->catalog->events[group->events[i]], window->counts[i], most_ns);
    return possible;
}

static bool counts_fell(const struct window *window, const struct plan *plan) {
    bool any = false;
    for (size_t i = 0; i < plan->groups[window->group].n_events; i++)
        any = any || fell(window->counts[i]);
    return any;
}

void plausible_judge(struct window *window, const struct plan *plan, const double *most, uint64_t elapsed_ns,
                     bool *doubtful) {
    bool data = window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED;
    if (!data && window->result != WINDOW_STARVED)
        return;
    bool times = times_are_possible(window, elapsed_ns), doubted = doubtful && *doubtful;
    bool counts = !data || (!doubted && counts_are_possible(window, plan, most));
    if (data && doubtful)
        *doubtful = !counts && counts_fell(window, plan);
    if (!times)
        window->enabled_ns = window->running_ns = 0;
    if (times && counts)
        return;
    if (data)
        memset(window->counts, 0, plan->groups[window->group].n_events * sizeof *window->counts);
    window->result = WINDOW_IMPLAUSIBLE;
}
