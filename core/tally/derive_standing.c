// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_state.h"

// Units that count all the time. Their windows last from one snapshot to the next, whatever the rotation is at, so they
// have a time of their own. It has no gaps: what counts all the time has counted while the daemon stood still.

static const double NS = 1e-9;

double derive_standing_part(const struct derive *d) {
    size_t n = 0;
    for (unsigned u = 0; u < derive_n_units(d); u++)
        n += plan_unit_stands(d->layout->plan, u) ? d->metrics->units[u].n_metrics : 0;
    return d->metrics->n_planned > 0 ? (double)n / (double)d->metrics->n_planned : 0;
}

void derive_advance_standing(struct derive *d, const struct readings *readings) {
    uint64_t start_ns = d->standing_end_ns > 0 ? d->standing_end_ns : readings->start_ns;
    struct derive_round_time time = {.seconds = (double)(readings->end_ns - start_ns) * NS,
                                     .limit_seconds = DERIVE_ROUNDS_MAX * (double)d->layout->plan->round_ns * NS};
    d->standing_end_ns = readings->end_ns;
    if (d->metrics->n_planned == 0 || derive_standing_part(d) == 0)
        return;
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++) {
        for (unsigned u = 0; u < derive_n_units(d); u++)
            if (plan_unit_stands(d->layout->plan, u))
                derive_advance_unit(d, cpu, u, &time);
        derive_advance_events(d, cpu, true, &time);
    }
}

void derive_pause_standing(struct derive *d, uint64_t until_ns, enum uncovered reason) {
    if (d->standing_end_ns == 0 || until_ns <= d->standing_end_ns || d->metrics->n_planned == 0)
        return;
    double seconds = (double)(until_ns - d->standing_end_ns) * NS * derive_standing_part(d);
    for (size_t cpu = 0; cpu < derive_n_cpus(d); cpu++)
        totals_add(d->totals, cpu, snapshot_uncovered(d->layout, 0, reason), seconds);
    d->standing_end_ns = until_ns;
}
