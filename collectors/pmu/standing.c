// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/standing.h"

// A group counts from one reading to the next without a gap, so the time of its window is the time between them, as the
// caller's clock has it. The kernel's own times are off by the moment that each read takes place; with them, counts
// would be scaled up and down a little from snapshot to snapshot. They only apply where a group did not count for all
// of that time.

static const uint64_t LATE_NS = 100000000; // a read may come so much later than the clock says

void standing_start(struct channels *channels, const struct plan *plan, const struct topology *topology) {
    for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++)
        for (size_t group = plan_n_rotating(plan); group < plan->n_groups; group++)
            channels_start(channels, cpu, (unsigned)group);
}

// A group of one event reads in full also after the kernel has taken it off its CPU: then it has not counted at all.
static void read_group(struct channels *channels, unsigned cpu, unsigned group, uint64_t now_ns,
                       struct readings *readings) {
    uint64_t elapsed_ns = now_ns - channels_since_ns(channels, cpu, group);
    struct window *window = channels_read(channels, cpu, group, readings);
    if (window->result == WINDOW_STARVED || (window->result == WINDOW_FAILED && window->error == 0))
        channels_lose(channels, cpu, group, window);
    else if (window->result == WINDOW_COMPLETE && window->running_ns + LATE_NS + elapsed_ns / 8 > elapsed_ns)
        window->enabled_ns = window->running_ns = elapsed_ns;
}

void standing_read(struct channels *channels, const struct plan *plan, unsigned cpu, uint64_t now_ns,
                   struct readings *readings) {
    for (size_t group = plan_n_rotating(plan); group < plan->n_groups; group++)
        read_group(channels, cpu, (unsigned)group, now_ns, readings);
}
