// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/tally/derive_state.h"

// Confidence intervals of gauges: passes core/estimate's answers to the snapshot. Rounds separated by uncovered time
// are not compared.

void derive_forget_gaps(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    for (size_t u = 0; u < derive_n_units(d); u++)
        if (time->gap_seconds > 0 || cells_at(d->cells, cpu, u)->span.given_up)
            estimate_forget_unit(d->estimate, cpu, u);
}

// Writes a metric's windows and share of time: its own unit's, or the smallest of those of the metrics it needs.
static void write_basis(const struct derive *d, struct snapshot *out, size_t scope, size_t metric) {
    const struct snapshot_layout *layout = d->layout;
    const struct plan_metric *planned = &layout->plan->metrics[metric];
    const struct formula *formula = derive_formula(d, metric);
    double windows = INFINITY, share = INFINITY;
    if (planned->unit >= 0) {
        const struct sums_cell *basis = sums_at(d->sums, scope, (size_t)planned->unit);
        windows = basis->windows;
        share = basis->share;
    }
    for (size_t i = 0; i < formula->n_metrics; i++) { // NaN: the metric divides by zero and may not be needed
        size_t needed = (size_t)d->layout->plan->place[formula->metrics[i]];
        windows = fmin(windows, out->values[snapshot_metric_windows(layout, scope, needed)]);
        share = fmin(share, out->values[snapshot_share_of_time(layout, scope, needed)]);
    }
    out->values[snapshot_metric_windows(layout, scope, metric)] = isfinite(windows) ? windows : NAN;
    out->values[snapshot_share_of_time(layout, scope, metric)] = isfinite(share) ? share : NAN;
}

void derive_write_trust(const struct derive *d, struct snapshot *out, size_t batch, size_t metric,
                        const struct lanes *values) {
    const struct snapshot_layout *layout = d->layout;
    struct scope_range scopes = scopes_of_batch(layout->topology, batch);
    struct estimate_intervals all;
    estimate_get_batch(d->estimate, batch, metric, values, 1, &all);
    for (size_t l = 0; l < scopes.n; l++) {
        size_t scope = scopes.first + l;
        if (isnan(values->of[l]))
            continue;
        write_basis(d, out, scope, metric);
        out->values[snapshot_standard_error(layout, scope, metric)] = all.standard_error.of[l];
        out->values[snapshot_low(layout, scope, metric)] = all.low.of[l];
        out->values[snapshot_high(layout, scope, metric)] = all.high.of[l];
        out->quality[snapshot_state(layout, scope, metric)] = (uint8_t)all.quality.of[l];
    }
}
