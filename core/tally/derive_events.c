// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_events.h"

#include <stdlib.h>

#include "core/base/block.h"

static void lay_out(void *self, struct block *block) {
    struct derive_events *events = self;
    events->events = block_take(block, events->n_events, sizeof *events->events);
    events->places = block_take(block, events->rows->n_values, sizeof *events->places); // a unit has each event once
    events->spans = block_take(block, events->n_cpus * events->n_events, sizeof *events->spans);
}

static void find_places(struct derive_events *events, size_t e, size_t *n) {
    const struct rows *rows = events->rows;
    struct derive_event *event = &events->events[e];
    int common_unit = rows->plan->common_unit;
    bool common = common_unit >= 0 && rows_place(rows, (size_t)common_unit, events->of[e]) > 0;
    event->first_place = *n;
    for (unsigned u = 0; u < rows->n_units; u++)
        event->standing =
            event->standing || (plan_unit_stands(rows->plan, u) && rows_place(rows, u, events->of[e]) > 0);
    for (unsigned u = 0; u < rows->n_units; u++) {
        size_t place = rows_place(rows, u, events->of[e]);
        if (place == 0)
            continue;
        event->planned = true;
        if (event->standing ? plan_unit_stands(rows->plan, u) : !common || common_unit == (int)u)
            events->places[(*n)++] = (struct derive_place){.count = place, .seconds = rows_first(rows, u)};
    }
    event->n_places = *n - event->first_place;
}

struct derive_events *derive_events_new(const struct rows *rows, const unsigned *of, size_t n_events, size_t n_cpus) {
    struct derive_events events = {.rows = rows, .of = of, .n_events = n_events, .n_cpus = n_cpus};
    struct derive_events *made = block_new(&events, sizeof events, lay_out);
    size_t n = 0;
    for (size_t e = 0; made && e < n_events; e++)
        find_places(made, e, &n);
    return made;
}

struct derive_events *derive_events_free(struct derive_events *events) {
    free(events);
    return NULL;
}

// Sums an event's counts over a CPU's windows of the round.
static void count_event(const struct derive_events *events, const double *row, size_t event, double *count,
                        double *seconds) {
    const struct derive_event *of = &events->events[event];
    const struct derive_place *places = events->places + of->first_place;
    *count = *seconds = 0;
    for (size_t i = 0, n = of->n_places; i < n; i++) {
        *count += row[places[i].count];
        *seconds += row[places[i].seconds];
    }
}

void derive_events_advance(struct derive_events *events, const struct cells *cells, size_t cpu, bool standing,
                           double seconds, double limit_seconds, struct totals *totals, size_t first_field) {
    const double *row = cells_row(cells, cpu);
    struct span *spans = events->spans + cpu * events->n_events;
    for (size_t e = 0, n = events->n_events; e < n; e++) {
        double count, counted_seconds;
        if (events->events[e].standing != standing)
            continue;
        count_event(events, row, e, &count, &counted_seconds);
        struct span_step step = span_advance(&spans[e], seconds, counted_seconds > 0, limit_seconds);
        if (counted_seconds > 0)
            totals_add(totals, cpu, first_field + e, count * step.covered_seconds / counted_seconds);
    }
}
