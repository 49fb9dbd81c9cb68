// SPDX-License-Identifier: Apache-2.0
#include "bench/error_bars/bars.h"

#include <math.h>
#include <stdlib.h>

static const double LEAST = 0.93, MOST = 0.98, WIDEST = 1.3, ROUNDING = 1e-9;
static const double ENOUGH_SHARE = 0.0005, ENOUGH_RELATIVE = 0.002;

void bars_free(struct bars_cell *cell) {
    free(cell->errors);
    free(cell->halves);
    *cell = (struct bars_cell){0};
}

static void add(struct bars_cell *cell, const struct host_item *item) {
    if (cell->n == cell->capacity) {
        cell->capacity = 2 * cell->capacity + 256;
        cell->errors = realloc(cell->errors, cell->capacity * sizeof *cell->errors);
        cell->halves = realloc(cell->halves, cell->capacity * sizeof *cell->halves);
        if (!cell->errors || !cell->halves)
            abort();
    }
    cell->errors[cell->n] = item->error;
    cell->halves[cell->n++] = item->half;
}

static bool holds(const struct host_item *item) { return item->error <= item->half + (float)ROUNDING; }

void bars_take(struct bars_cell *cell, const struct host *host, enum host_scope scope, enum host_class of,
               const struct host_item *items) {
    size_t n_metrics = host->setting.plan->n_metrics, n_shown = 0, n_inside = 0;
    for (size_t s = 0; s < host_n_scopes(host); s++)
        for (size_t m = 0; m < n_metrics && host_scope_of(host, s) == scope; m++) {
            const struct host_item *item = &items[s * n_metrics + m];
            if (host->classes[m] != of || item->state == HOST_NO_VALUE)
                continue;
            cell->n_values++;
            cell->n_absent += item->state == HOST_ABSENT;
            cell->n_unknown += item->state == HOST_UNKNOWN;
            cell->n_unknown_inside += item->state == HOST_UNKNOWN && holds(item);
            cell->n_poor += item->state == HOST_POOR;
            if (item->state == HOST_ABSENT || item->state == HOST_UNKNOWN)
                continue;
            add(cell, item);
            n_shown++;
            n_inside += holds(item);
        }
    if (n_shown == 0)
        return;
    double inside = (double)n_inside / (double)n_shown;
    cell->n_runs++;
    cell->inside += inside;
    cell->inside2 += inside * inside;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct bars_summary bars_summary(struct bars_cell *cell) {
    double n = (double)cell->n_runs, half = 0;
    struct bars_summary out = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (cell->n_values > 0) {
        out.absent = (double)cell->n_absent / (double)cell->n_values;
        out.unknown = (double)cell->n_unknown / (double)cell->n_values;
        out.unknown_inside = (double)cell->n_unknown_inside / (double)cell->n_values;
        out.poor = (double)cell->n_poor / (double)cell->n_values;
    }
    if (cell->n == 0)
        return out;
    for (size_t i = 0; i < cell->n; i++)
        half += cell->halves[i];
    qsort(cell->errors, cell->n, sizeof *cell->errors, compare);
    out.inside = cell->inside / n;
    // as if one more run had half of its intervals wrong: a few runs without a miss do not make it certain
    double spread = fmax(cell->inside2 / n - out.inside * out.inside, 0.25 / n / (n + 1));
    out.error = sqrt(spread / n);
    out.half = half / (double)cell->n;
    out.wanted = cell->errors[(size_t)(0.95 * (double)(cell->n - 1))];
    return out;
}

bool bars_is_too_narrow(const struct bars_summary *summary) { return summary->inside + 2 * summary->error < LEAST; }

bool bars_is_too_sure(const struct bars_summary *summary) { return summary->inside - 2 * summary->error > MOST; }

bool bars_is_too_wide(const struct bars_summary *summary) {
    return summary->half > WIDEST * summary->wanted + ROUNDING;
}

bool bars_says_unknown(const struct bars_summary *summary) { return summary->absent + summary->unknown > 0.5; }

bool bars_is_narrow_enough(const struct bars_summary *summary, enum host_class of) {
    return summary->half <= (of == HOST_LEVEL1 ? ENOUGH_SHARE : ENOUGH_RELATIVE);
}
