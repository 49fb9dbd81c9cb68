// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_state.h"

// Units that count all the time. Their windows last from the end of one round to that of the next. Their time has no
// gaps: what counts all the time has counted while the daemon stood still.

void derive_advance_standing(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    struct derive_round_time all = {.seconds = time->seconds + time->gap_seconds, .limit_seconds = time->limit_seconds};
    if (!d->metrics->stands)
        return;
    for (unsigned u = 0; u < derive_n_units(d); u++)
        if (plan_unit_stands(d->layout->plan, u))
            derive_advance_unit(d, cpu, u, &all);
    derive_advance_events(d, cpu, true, &all);
}
