// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_slope.h"

#include <math.h>

// Most metrics are ratios, for which the quotient rule is quicker than going through the formula step by step.

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

struct lanes estimate_slopes(const struct formula *formula, const struct lanes *events, const struct lanes *metrics,
                             struct formula_node *nodes, struct lanes *slopes) {
    return formula->is_ratio ? slopes_of_ratio(formula, events, slopes)
                             : formula_slopes_lanes(formula, events, metrics, nodes, slopes);
}
