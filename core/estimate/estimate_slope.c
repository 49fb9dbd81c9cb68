// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_slope.h"

#include <math.h>

static double slope(const struct formula *formula, double *events, double *metrics, double *by, double value) {
    double middle = *by, step = 1e-4 * fabs(middle);
    if (!(step > 0)) // also true for NaN
        return 0;
    *by = middle + step;
    double above = formula_evaluate_known(formula, events, metrics);
    *by = middle - step;
    double below = formula_evaluate_known(formula, events, metrics);
    *by = middle;
    double rise = isnan(below) ? 2 * (above - value) : isnan(above) ? 2 * (value - below) : above - below;
    return isfinite(rise) ? rise / (2 * step) : 0;
}

static size_t place_of(const struct formula *formula, unsigned variable) {
    size_t i = 0;
    while (formula->variables[i] != variable)
        i++;
    return i;
}

// Derivatives of k N / D: k / D by N's events, minus value / D by D's events.
static double slopes_of_ratio(const struct formula *formula, const double *events, double *slopes) {
    const struct formula_sum *upper = &formula->numerator, *lower = &formula->denominator;
    double below = formula_sum_evaluate(lower, events);
    double value = below == 0 ? NAN : formula->scale * formula_sum_evaluate(upper, events) / below;
    for (size_t i = 0; i < formula->n_variables; i++)
        slopes[i] = 0;
    if (!isfinite(value))
        return NAN;
    for (size_t t = 0; t < upper->n; t++)
        slopes[place_of(formula, upper->terms[t].variable)] += formula->scale * upper->terms[t].coefficient / below;
    for (size_t t = 0; t < lower->n; t++)
        slopes[place_of(formula, lower->terms[t].variable)] -= value * lower->terms[t].coefficient / below;
    for (size_t i = 0; i < formula->n_variables; i++)
        if (events[formula->variables[i]] == 0) // an event that did not happen does not vary
            slopes[i] = 0;
    return value;
}

double estimate_slopes(const struct formula *formula, double *events, double *metrics, double *slopes) {
    if (formula->is_ratio)
        return slopes_of_ratio(formula, events, slopes);
    double value = formula_evaluate_known(formula, events, metrics);
    for (size_t i = 0; i < formula->n_variables; i++)
        slopes[i] = isnan(value) ? 0 : slope(formula, events, metrics, &events[formula->variables[i]], value);
    for (size_t i = 0; i < formula->n_metrics; i++)
        slopes[formula->n_variables + i] =
            isnan(value) ? 0 : slope(formula, events, metrics, &metrics[formula->metrics[i]], value);
    return value;
}
