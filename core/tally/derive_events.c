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
            events->places[(*n)++] = (struct derive_place){.count = place, .unit = u};
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

// Adds up an event's counts over a CPU's windows of the round, and for how much of the round they stand: their seconds,
// or the sum of their units' probabilities. 0: nothing.
static double count_event(const struct derive_events *events, const struct cells *cells, size_t cpu, size_t event,
                          double *stands_for) {
    const struct derive_event *of = &events->events[event];
    const struct derive_place *places = events->places + of->first_place;
    bool held = cells->times[cpu].held;
    double count = 0;
    *stands_for = 0;
    for (size_t i = 0, n = of->n_places; i < n; i++) {
        count += cells_row(cells, cpu)[places[i].count];
        if (!held || of->standing)
            *stands_for += cells_values(cells, cpu, places[i].unit)[0];
        else if (cells_data(cells, cpu, places[i].unit))
            *stands_for += 1 / cells_factor(cells, cpu, places[i].unit, 1);
    }
    return count;
}

void derive_events_advance(struct derive_events *events, const struct cells *cells, size_t cpu, bool standing,
                           double seconds, double limit_seconds, double *amounts) {
    struct span *spans = events->spans + cpu * events->n_events;
    for (size_t e = 0, n = events->n_events; e < n; e++) {
        if (events->events[e].standing != standing)
            continue;
        double stands_for, count = count_event(events, cells, cpu, e, &stands_for);
        struct span_step step = span_advance(&spans[e], seconds, stands_for > 0, limit_seconds);
        if (stands_for > 0)
            amounts[e] = count * step.covered_seconds / stands_for;
    }
}
