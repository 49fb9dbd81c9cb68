// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/bottlenecks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Arrays are indexed by catalog metric; values are in the scale of the metrics' formulas.
struct inputs {
    const struct snapshot *snapshot;
    size_t scope;
    bool *needed;
    double *values, *halves; // of the 95 % interval; NaN: none
};

static int place_of(const struct snapshot_layout *layout, unsigned metric) {
    return layout->plan->place[catalog_metric_here(layout->catalog, metric)];
}

// ---- inputs ----

static void mark(bool *needed, const struct formula *formula) {
    for (size_t i = 0; i < formula->n_metrics; i++)
        needed[formula->metrics[i]] = true;
}

// Marks what the headings read, and what metrics that are not measured are made of. A metric comes after those.
static void mark_needed(const struct inputs *inputs) {
    const struct snapshot_layout *layout = inputs->snapshot->layout;
    const struct catalog *catalog = layout->catalog;
    for (enum bottleneck heading = 0; heading < BOTTLENECK_N; heading++)
        if (catalog->bottlenecks[heading].formula)
            mark(inputs->needed, catalog->bottlenecks[heading].formula);
    for (size_t m = catalog->n_metrics; m-- > 0;)
        if (inputs->needed[m] && place_of(layout, (unsigned)m) < 0 && catalog->metrics[m].formula->n_variables == 0)
            mark(inputs->needed, catalog->metrics[m].formula);
}

// Half of the interval if all inputs err by half of theirs, each to the side that matters.
static double half_of(const struct inputs *inputs, const struct formula *formula) {
    double sum = 0;
    for (size_t i = 0; i < formula->n_metrics; i++) {
        unsigned m = formula->metrics[i];
        double value = inputs->values[m];
        inputs->values[m] = value + inputs->halves[m];
        double above = formula_evaluate_known(formula, NULL, inputs->values);
        inputs->values[m] = value - inputs->halves[m];
        double below = formula_evaluate_known(formula, NULL, inputs->values);
        inputs->values[m] = value;
        sum += fabs(above - below) / 2;
    }
    return sum;
}

static void read_value(const struct inputs *inputs, unsigned metric, size_t place) {
    const struct snapshot *snapshot = inputs->snapshot;
    const double *from = snapshot->values;
    double scale = snapshot->layout->catalog->metrics[metric].export_scale;
    inputs->values[metric] = from[snapshot_metric(snapshot->layout, inputs->scope, place)] / scale;
    inputs->halves[metric] = (from[snapshot_high(snapshot->layout, inputs->scope, place)] -
                              from[snapshot_low(snapshot->layout, inputs->scope, place)]) /
                             scale / 2;
}

static void take_values(const struct inputs *inputs) {
    const struct snapshot_layout *layout = inputs->snapshot->layout;
    for (unsigned m = 0; m < layout->catalog->n_metrics; m++) {
        const struct formula *formula = layout->catalog->metrics[m].formula;
        int place = inputs->needed[m] ? place_of(layout, m) : -1;
        inputs->values[m] = inputs->halves[m] = NAN;
        if (place >= 0) {
            read_value(inputs, m, (size_t)place);
        } else if (inputs->needed[m] && formula->n_variables == 0) {
            inputs->values[m] = formula_evaluate_known(formula, NULL, inputs->values);
            inputs->halves[m] = half_of(inputs, formula);
        }
    }
}

// ---- rows ----

// The first measured or not selected metric without a value that the formula is made of; -1: all have values, so that
// it divides by zero.
static int find_missing(const struct inputs *inputs, const struct formula *formula) {
    const struct snapshot_layout *layout = inputs->snapshot->layout;
    int found = -1;
    for (size_t i = 0; i < formula->n_metrics && found < 0; i++) {
        unsigned m = formula->metrics[i];
        if (!isnan(inputs->values[m]))
            continue;
        const struct formula *of = layout->catalog->metrics[m].formula;
        bool made = place_of(layout, m) < 0 && of->n_variables == 0 && of->n_metrics > 0;
        found = made ? find_missing(inputs, of) : (int)m; // a metric comes after those that it uses: this ends
        found = found < 0 ? (int)m : found;
    }
    return found;
}

static struct bottleneck_row row_of(const struct inputs *inputs, enum bottleneck heading) {
    struct bottleneck_row row = {.heading = heading, .value = NAN, .low = NAN, .high = NAN, .missing = -1};
    const struct formula *formula = inputs->snapshot->layout->catalog->bottlenecks[heading].formula;
    if (!formula)
        return row;
    row.value = formula_evaluate_known(formula, NULL, inputs->values);
    if (isnan(row.value)) {
        row.missing = find_missing(inputs, formula);
        return row;
    }
    double half = half_of(inputs, formula);
    row.low = row.value - half;
    row.high = row.value + half;
    return row;
}

// What is known of a heading: it, or its parts where these are more, as some are upper bounds, or it has no value.
// *whole: nothing of it is missing.
static double known_of(const struct bottleneck_row *rows, enum bottleneck heading, double *half, bool *whole) {
    double parts = 0, halves = 0, value = rows[heading].value;
    bool all = heading >= BOTTLENECK_COARSE;
    for (enum bottleneck part = 0; part < BOTTLENECK_N && heading >= BOTTLENECK_COARSE; part++)
        if (bottleneck_has_part(heading, part))
            parts += known_of(rows, part, &halves, &all);
    bool itself = !isnan(value) && value >= parts;
    *half += itself ? (rows[heading].high - rows[heading].low) / 2 : halves;
    *whole = *whole && (all || !isnan(value));
    return itself ? value : parts;
}

// Takes the parts out of a coarse heading. Returns false if they tell everything.
static bool take_out(const struct bottleneck_row *rows, struct bottleneck_row *row) {
    double known = 0, half = (row->high - row->low) / 2;
    bool whole = true;
    for (enum bottleneck part = 0; part < BOTTLENECK_N; part++)
        if (bottleneck_has_part(row->heading, part))
            known += known_of(rows, part, &half, &whole);
    if (whole || isnan(row->value))
        return !whole;
    row->rest = known != 0;
    row->value = fmax(row->value - known, 0);
    row->low = isnan(half) ? NAN : fmax(row->value - half, 0);
    row->high = row->value + half;
    return true;
}

static int compare_rows(const void *a, const void *b) {
    const struct bottleneck_row *one = a, *other = b;
    if (isnan(one->value) != isnan(other->value))
        return isnan(one->value) ? 1 : -1;
    if (!isnan(one->value) && one->value != other->value)
        return one->value > other->value ? -1 : 1;
    return (one->heading > other->heading) - (one->heading < other->heading);
}

static void find_rows(const struct inputs *inputs, struct bottlenecks *out) {
    struct bottleneck_row rows[BOTTLENECK_N];
    for (enum bottleneck heading = 0; heading < BOTTLENECK_N; heading++)
        rows[heading] = row_of(inputs, heading);
    for (enum bottleneck heading = 0; heading < BOTTLENECK_N; heading++) {
        struct bottleneck_row row = rows[heading];
        bool there = inputs->snapshot->layout->catalog->bottlenecks[heading].formula;
        if (!there || (heading >= BOTTLENECK_COARSE && !take_out(rows, &row)))
            continue;
        out->rows[out->n++] = row;
        bool known = !isnan(row.value);
        out->n_known += known;
        out->fine = out->fine || (known && heading < BOTTLENECK_COARSE);
    }
    qsort(out->rows, out->n, sizeof *out->rows, compare_rows);
}

int bottlenecks_find(const struct snapshot *snapshot, size_t scope, struct bottlenecks *out) {
    size_t n = snapshot->layout->catalog->n_metrics;
    struct inputs inputs = {.snapshot = snapshot,
                            .scope = scope,
                            .needed = calloc(n + 1, sizeof *inputs.needed),
                            .values = calloc(2 * n + 1, sizeof *inputs.values)};
    int r = inputs.needed && inputs.values ? 0 : -ENOMEM;
    if (r == 0) {
        inputs.halves = inputs.values + n;
        *out = (struct bottlenecks){.n = 0};
        mark_needed(&inputs);
        take_values(&inputs);
        find_rows(&inputs, out);
    }
    free(inputs.values);
    free(inputs.needed);
    return r;
}
