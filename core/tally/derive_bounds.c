// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"
#include "core/spec/opportunity.h"

// ---- making ----

static bool is_bound(const struct snapshot_layout *layout, size_t metric) {
    unsigned of = catalog_metric_named(layout->catalog, layout->plan->metrics[metric].metric);
    return layout->n_level1 > 0 && opportunity_of(&layout->catalog->metrics[of]) != OPPORTUNITY_N;
}

static void lay_out(void *self, struct block *block) {
    struct derive_bounds *bounds = self;
    size_t n_sockets = bounds->layout->topology->n_sockets;
    bounds->metrics = block_take(block, bounds->n, sizeof *bounds->metrics);
    bounds->slots = block_take(block, n_sockets, sizeof *bounds->slots);
    bounds->pending = block_take(block, n_sockets * bounds->n, sizeof *bounds->pending);
}

struct derive_bounds *derive_bounds_new(const struct snapshot_layout *layout) {
    struct derive_bounds bounds = {.layout = layout};
    for (size_t m = 0; m < layout->n_metrics; m++)
        bounds.n += is_bound(layout, m);
    struct derive_bounds *made = block_new(&bounds, sizeof bounds, lay_out);
    for (size_t m = 0, i = 0; m < layout->n_metrics && made; m++)
        if (is_bound(layout, m))
            made->metrics[i++] = (unsigned)m;
    return made;
}

struct derive_bounds *derive_bounds_free(struct derive_bounds *bounds) {
    free(bounds);
    return NULL;
}

// ---- taking ----

static double total_of(const struct totals *totals, size_t scope, size_t field) {
    double total;
    totals_write(totals, scope, field, 1, &total);
    return total;
}

static double slots_of(const struct derive_bounds *bounds, const struct totals *totals, size_t socket) {
    return total_of(totals, scope_of_socket(socket), snapshot_pipeline_slots(bounds->layout, 0));
}

void derive_bounds_begin(struct derive_bounds *bounds, const struct totals *totals) {
    for (size_t socket = 0; socket < bounds->layout->topology->n_sockets; socket++)
        bounds->slots[socket] = slots_of(bounds, totals, socket);
}

// Takes a bound's share of the slots that wait for it. Noise below 0 is none, as nothing can be lost by it.
static void take_bound(const struct derive_bounds *bounds, struct totals *totals, size_t socket, size_t bound,
                       double share) {
    struct derive_pending *pending = &bounds->pending[socket * bounds->n + bound];
    size_t field = snapshot_numerator(bounds->layout, 0, bounds->metrics[bound]);
    double amount = fmin(fmax(share, 0), 1) * pending->slots;
    if (amount > 0) {
        totals_add_scope(totals, 0, field, amount);
        totals_add_scope(totals, scope_of_socket(socket), field, amount);
    }
    *pending = (struct derive_pending){0};
}

void derive_bounds_take(struct derive_bounds *bounds, struct totals *totals, struct snapshot *out, uint64_t end_ns,
                        double limit_seconds) {
    double seconds = bounds->end_ns > 0 && end_ns > bounds->end_ns ? (double)(end_ns - bounds->end_ns) * 1e-9 : 0;
    bounds->end_ns = end_ns;
    for (size_t socket = 0; socket < bounds->layout->topology->n_sockets; socket++) {
        double now = slots_of(bounds, totals, socket), slots = now - bounds->slots[socket];
        bounds->slots[socket] = now;
        for (size_t i = 0; i < bounds->n; i++) {
            struct derive_pending *pending = &bounds->pending[socket * bounds->n + i];
            double share = out->values[snapshot_metric(bounds->layout, scope_of_socket(socket), bounds->metrics[i])];
            pending->slots += slots;
            pending->seconds += seconds;
            if (!isnan(share))
                take_bound(bounds, totals, socket, i, share);
            else if (pending->seconds > limit_seconds)
                *pending = (struct derive_pending){0};
        }
    }
    derive_bounds_write(bounds, totals, out);
}

void derive_bounds_write(const struct derive_bounds *bounds, const struct totals *totals, struct snapshot *out) {
    const struct snapshot_layout *layout = bounds->layout;
    for (size_t scope = 0; scope < scope_of_socket(layout->topology->n_sockets); scope++)
        for (size_t i = 0; i < bounds->n; i++) {
            unsigned m = bounds->metrics[i];
            double total = total_of(totals, scope, snapshot_numerator(layout, 0, m));
            if (total > 0 || plan_metric_planned(&layout->plan->metrics[m]))
                out->values[snapshot_numerator(layout, scope, m)] = total;
        }
}
