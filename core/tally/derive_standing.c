// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_private.h"

// Units that count all the time. Their windows last from one reading to the next: at the end of each round, and on
// hosts with few cores at each snapshot as well. Their time has no gaps: what counts all the time has counted while
// the daemon stood still.

static const double NS = 1e-9;

void derive_begin_standing(struct derive *d, const struct readings *readings) {
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        d->read[cpu] = false;
    if (plan_n_rotating(d->layout->plan) == d->layout->plan->n_groups)
        return;
    for (size_t i = 0; i < readings->n_windows; i++) {
        unsigned cpu = readings->windows[i].cpu;
        if (d->ended[cpu] || d->read[cpu])
            continue;
        d->read[cpu] = true; // rounds that go on have no other windows
        cells_begin_standing(d->cells, cpu);
    }
}

static void advance(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    struct derive_round_time all = {.seconds = time->seconds + time->gap_seconds, .limit_seconds = time->limit_seconds};
    if (!d->metrics->stands)
        return;
    for (unsigned u = 0; u < derive_n_units(d); u++)
        if (plan_unit_stands(d->layout->plan, u))
            derive_advance_unit(d, cpu, u, &all);
    derive_advance_events(d, cpu, true, &all);
}

// Before the first reading it has counted since the readings began, or since the core's first round did.
static uint64_t begin_ns(const struct derive *d, const struct readings *readings, size_t cpu) {
    const struct core_round *round = d->core_rounds[d->layout->topology->cpus[cpu].core];
    if (d->standing_end_ns[cpu] > 0)
        return d->standing_end_ns[cpu];
    return round ? round->start_ns : readings->start_ns;
}

void derive_end_standing(struct derive *d, const struct readings *readings, size_t cpu, uint64_t end_ns) {
    uint64_t start_ns = begin_ns(d, readings, cpu);
    struct derive_round_time time = derive_time_between(d, start_ns < end_ns ? start_ns : end_ns, end_ns);
    d->cells->times[cpu].standing_seconds = time.seconds;
    d->standing_end_ns[cpu] = end_ns;
    advance(d, cpu, &time);
}

double derive_pause_cpu(struct derive *d, size_t cpu, uint64_t until_ns) {
    uint64_t end_ns = d->end_ns[cpu], standing_end_ns = d->standing_end_ns[cpu];
    double seconds = (double)(until_ns - end_ns) * NS, ahead = 0;
    if (standing_end_ns > end_ns) // read since the round ended
        ahead = (double)(standing_end_ns - end_ns) * NS * derive_metrics_standing_part(d->metrics);
    d->end_ns[cpu] = d->standing_end_ns[cpu] = until_ns;
    return seconds - ahead;
}
