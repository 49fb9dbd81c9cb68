// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_slope.h"

#include <math.h>

// The derivative by `by`, an event or a metric.
static struct lanes slope(const struct formula *formula, struct lanes *events, struct lanes *metrics, struct lanes *by,
                          const struct lanes *value) {
    struct lanes middle = *by, steps, slopes;
    for (size_t l = 0; l < LANES; l++) {
        steps.of[l] = 1e-4 * fabs(middle.of[l]);
        by->of[l] = middle.of[l] + steps.of[l];
    }
    struct lanes above = formula_evaluate_lanes(formula, events, metrics);
    for (size_t l = 0; l < LANES; l++)
        by->of[l] = middle.of[l] - steps.of[l];
    struct lanes below = formula_evaluate_lanes(formula, events, metrics);
    *by = middle;
    for (size_t l = 0; l < LANES; l++) {
        double rise = isnan(below.of[l])   ? 2 * (above.of[l] - value->of[l])
                      : isnan(above.of[l]) ? 2 * (value->of[l] - below.of[l])
                                           : above.of[l] - below.of[l];
        bool varies = steps.of[l] > 0 && isfinite(rise) && !isnan(value->of[l]); // not if NaN
        slopes.of[l] = varies ? rise / (2 * steps.of[l]) : 0;
    }
    return slopes;
}

static size_t place_of(const struct formula *formula, unsigned variable) {
    size_t i = 0;
    while (formula->variables[i] != variable)
        i++;
    return i;
}

// Adds to the derivatives by a sum's events: the coefficient times `by`, over `below`.
static void add_terms(const struct formula *formula, const struct formula_sum *sum, struct lanes by,
                      const struct lanes *below, struct lanes *slopes) {
    for (size_t t = 0; t < sum->n; t++) {
        struct lanes *to = &slopes[place_of(formula, sum->terms[t].variable)];
        double coefficient = sum->terms[t].coefficient;
        for (size_t l = 0; l < LANES; l++)
            to->of[l] += by.of[l] * coefficient / below->of[l];
    }
}

// Derivatives of k N / D: k / D by N's events, minus value / D by D's events.
static struct lanes slopes_of_ratio(const struct formula *formula, const struct lanes *events, struct lanes *slopes) {
    struct lanes above = formula_sum_evaluate_lanes(&formula->numerator, events);
    struct lanes below = formula_sum_evaluate_lanes(&formula->denominator, events), value, minus_value;
    for (size_t l = 0; l < LANES; l++) {
        double ratio = formula->scale * above.of[l] / below.of[l];
        value.of[l] = below.of[l] != 0 && isfinite(ratio) ? ratio : NAN;
        minus_value.of[l] = -value.of[l];
    }
    for (size_t i = 0; i < formula->n_variables; i++)
        slopes[i] = lanes_all(0);
    add_terms(formula, &formula->numerator, lanes_all(formula->scale), &below, slopes);
    add_terms(formula, &formula->denominator, minus_value, &below, slopes);
    for (size_t i = 0; i < formula->n_variables; i++) {
        const struct lanes *counts = &events[formula->variables[i]];
        for (size_t l = 0; l < LANES; l++) // an event that did not happen does not vary
            slopes[i].of[l] = counts->of[l] == 0 || isnan(value.of[l]) ? 0 : slopes[i].of[l];
    }
    return value;
}

struct lanes estimate_slopes(const struct formula *formula, struct lanes *events, struct lanes *metrics,
                             struct lanes *slopes) {
    if (formula->is_ratio)
        return slopes_of_ratio(formula, events, slopes);
    struct lanes value = formula_evaluate_lanes(formula, events, metrics);
    for (size_t i = 0; i < formula->n_variables; i++)
        slopes[i] = slope(formula, events, metrics, &events[formula->variables[i]], &value);
    for (size_t i = 0; i < formula->n_metrics; i++)
        slopes[formula->n_variables + i] = slope(formula, events, metrics, &metrics[formula->metrics[i]], &value);
    return value;
}
