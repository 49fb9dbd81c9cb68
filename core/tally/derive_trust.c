// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "core/estimate/estimate_terms.h"
#include "core/tally/derive_private.h"
#include "core/uncore/uncore.h"

// Confidence intervals of gauges: passes core/estimate's answers to the snapshot. Rounds separated by uncovered time
// are not compared.

void derive_forget_gaps(struct derive *d, size_t cpu, const struct derive_round_time *time) {
    for (size_t u = 0; u < derive_n_units(d); u++)
        if (time->gap_seconds > 0 || cells_at(d->cells, cpu, u)->span.given_up)
            estimate_forget_unit(d->estimate, cpu, u);
}

// What a metric rests on in the scopes of a batch.
struct basis {
    struct lanes windows, share;
};

// Its own unit's, or the smallest of those of the metrics it needs.
static void find_basis(const struct derive *d, const struct snapshot *out, struct scope_range scopes, size_t metric,
                       struct basis *basis) {
    const struct snapshot_layout *layout = d->layout;
    size_t stride = snapshot_stride(layout, scopes.first);
    const struct formula *formula = derive_formula(d, metric);
    int unit = layout->plan->metrics[metric].unit;
    for (size_t l = 0; l < scopes.n; l++) {
        const struct sums_cell *of = unit >= 0 ? sums_at(d->sums, scopes.first + l, (size_t)unit) : NULL;
        basis->windows.of[l] = of ? of->windows : INFINITY;
        basis->share.of[l] = of ? of->share : INFINITY;
    }
    for (size_t i = 0; i < formula->n_metrics; i++) {
        size_t needed = (size_t)layout->plan->place[formula->metrics[i]];
        const double *windows = &out->values[snapshot_metric_windows(layout, scopes.first, needed)];
        const double *share = &out->values[snapshot_share_of_time(layout, scopes.first, needed)];
        for (size_t l = 0; l < scopes.n; l++) { // NaN: the metric divides by zero and may not be needed
            size_t at = l * stride;
            basis->windows.of[l] = fmin(basis->windows.of[l], windows[at]);
            basis->share.of[l] = fmin(basis->share.of[l], share[at]);
        }
    }
}

static bool is_share(double share) { return isfinite(share) && (share == 0 || share > READINGS_SHARE_LEAST); }

static void write_basis(const struct derive *d, struct snapshot *out, struct scope_range scopes, size_t metric,
                        const struct lanes *values) {
    const struct snapshot_layout *layout = d->layout;
    size_t stride = snapshot_stride(layout, scopes.first);
    struct basis basis;
    find_basis(d, out, scopes, metric, &basis);
    double *windows = &out->values[snapshot_metric_windows(layout, scopes.first, metric)];
    double *share = &out->values[snapshot_share_of_time(layout, scopes.first, metric)];
    for (size_t l = 0; l < scopes.n; l++) {
        size_t at = l * stride;
        if (isnan(values->of[l]))
            continue;
        windows[at] = isfinite(basis.windows.of[l]) ? basis.windows.of[l] : NAN;
        share[at] = is_share(basis.share.of[l]) ? basis.share.of[l] : NAN;
    }
}

// How far off the cores' counts are is not known to boxes that take their totals.
static bool is_told_by_cores(const struct derive *d, size_t metric) {
    const struct snapshot_layout *layout = d->layout;
    return layout->topology->boxes && uncore_needs_cores(layout->catalog, derive_formula(d, metric));
}

// Others' counts are exact where they ran all the time, from the first interval on. Where they took turns, two
// intervals that are alike do not tell how far off they are: nobody drew the turns at random.
static struct estimate_interval of_others(const struct derive *d, double value, double share,
                                          const struct estimate_interval *of) {
    bool all = share >= READINGS_SHARE_ALL;
    if (all && isnan(of->high) && !estimate_terms_floors(d->layout->catalog))
        return (struct estimate_interval){0, value, value, ESTIMATE_GOOD, ESTIMATE_SURE};
    if (!all && of->low == of->high)
        return (struct estimate_interval){NAN, NAN, NAN, ESTIMATE_NONE, ESTIMATE_SURE};
    return *of;
}

static void write_many(const struct derive *d, struct snapshot *out, size_t batch, size_t metric,
                       const struct lanes *values) {
    struct scope_range scopes = scopes_of_batch(d->layout->topology, batch);
    struct estimate_many many;
    estimate_get_many(d->estimate, batch, metric, values, &many);
    for (size_t l = 0; l < scopes.n; l++)
        out->many[snapshot_state(d->layout, scopes.first + l, metric)] = (struct estimate_rounds_of){
            many.variance.of[l], many.kept.of[l], many.degrees.of[l], many.least.of[l], many.from[l]};
}

void derive_write_trust(const struct derive *d, struct snapshot *out, size_t batch, size_t metric,
                        const struct lanes *values) {
    const struct snapshot_layout *layout = d->layout;
    struct scope_range scopes = scopes_of_batch(layout->topology, batch);
    size_t stride = snapshot_stride(layout, scopes.first);
    struct estimate_intervals all;
    write_basis(d, out, scopes, metric, values);
    if (!estimate_wants_batch(d->estimate, batch) || is_told_by_cores(d, metric))
        return;
    estimate_get_batch(d->estimate, batch, metric, values, 1, &all);
    if (out->many && !d->scaled)
        write_many(d, out, batch, metric, values);
    double *error = &out->values[snapshot_standard_error(layout, scopes.first, metric)];
    double *low = &out->values[snapshot_low(layout, scopes.first, metric)];
    double *high = &out->values[snapshot_high(layout, scopes.first, metric)];
    const double *share = &out->values[snapshot_share_of_time(layout, scopes.first, metric)];
    for (size_t l = 0; l < scopes.n; l++) {
        size_t at = l * stride;
        if (isnan(values->of[l]))
            continue;
        struct estimate_interval of = {all.standard_error.of[l], all.low.of[l], all.high.of[l],
                                       (enum estimate_quality)all.quality.of[l], (enum estimate_doubt)all.doubt.of[l]};
        if (d->scaled)
            of = of_others(d, values->of[l], share[at], &of);
        error[at] = of.standard_error;
        low[at] = of.low;
        high[at] = of.high;
        snapshot_set_trust(out, snapshot_state(layout, scopes.first + l, metric), of.quality, of.doubt);
    }
}
