// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct comparison *comparison_new(void) {
    struct comparison *comparison = calloc(1, sizeof *comparison);
    if (!comparison)
        abort();
    return comparison;
}

void comparison_free(struct comparison *comparison) {
    for (size_t c = 0; c < COMPARED_N; c++)
        for (size_t s = 0; s < SCHEDULE_N; s++)
            free(comparison->of[c][s].errors);
    free(comparison);
}

bool comparison_level1(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return true;
    return false;
}

static void add_error(struct compared_errors *errors, double error) {
    if (errors->n == errors->capacity) {
        errors->capacity = errors->capacity > 0 ? 2 * errors->capacity : 1024;
        errors->errors = realloc(errors->errors, errors->capacity * sizeof *errors->errors);
        if (!errors->errors)
            abort();
    }
    errors->errors[errors->n++] = error;
}

static void add_metric(struct compared_errors *errors, enum compared class, const struct outcome *outcome, size_t m) {
    double error = fabs(outcome->value[m] - outcome->truth[m]);
    if (class != COMPARED_LEVEL1)
        error /= fabs(outcome->truth[m]);
    add_error(errors, isfinite(error) ? 100 * error : 100);
    errors->inside += outcome->inside[m];
    errors->shown += outcome->shown[m];
}

void comparison_add(struct comparison *comparison, const struct plan *plan, const struct outcome *fixed,
                    const struct outcome *adaptive) {
    comparison->trials++;
    if (adaptive->changes == 0)
        return;
    comparison->raised++;
    comparison->changes += adaptive->changes;
    for (size_t m = 0; m < plan->n_metrics; m++) {
        enum compared class = comparison_level1(plan->catalog, plan->metrics[m].metric) ? COMPARED_LEVEL1
                              : adaptive->raised[m]                                     ? COMPARED_RAISED
                                                                                        : COMPARED_OTHER;
        const double *truth = fixed->truth;
        if (plan->metrics[m].unit == PLAN_NOT_PLANNABLE || !isfinite(truth[m]) || truth[m] == 0)
            continue;
        add_metric(&comparison->of[class][SCHEDULE_FIXED], class, fixed, m);
        add_metric(&comparison->of[class][SCHEDULE_ADAPTIVE], class, adaptive, m);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct quantiles {
    double median, p95, inside;
};

static struct quantiles quantiles_of(const struct compared_errors *errors) {
    if (errors->n == 0)
        return (struct quantiles){NAN, NAN, NAN};
    qsort(errors->errors, errors->n, sizeof *errors->errors, ascending);
    return (struct quantiles){errors->errors[errors->n / 2], errors->errors[(size_t)((double)errors->n * 0.95)],
                              100 * (double)errors->inside / (double)errors->shown};
}

bool comparison_print(const struct comparison *comparison, const char *name) {
    static const char *const classes[] = {"level 1, points", "raised groups', %", "all others, %"};
    printf("\n%s: shares changed in %zu of %zu trials, %.1f times in each\n%-20s %19s %19s %16s\n", name,
           comparison->raised, comparison->trials, (double)comparison->changes / (double)comparison->raised, "",
           "fixed", "adaptive", "inside, 1 round");
    bool met = true;
    for (size_t c = 0; c < COMPARED_N; c++) {
        struct quantiles fixed = quantiles_of(&comparison->of[c][SCHEDULE_FIXED]),
                         adaptive = quantiles_of(&comparison->of[c][SCHEDULE_ADAPTIVE]);
        printf("%-20s %8.2f / %8.2f %8.2f / %8.2f %6.1f, %6.1f %%\n", classes[c], fixed.median, fixed.p95,
               adaptive.median, adaptive.p95, fixed.inside, adaptive.inside);
        met = met && !(adaptive.inside < 91);
    }
    return met;
}
