// SPDX-License-Identifier: Apache-2.0
#include "core/estimate_slope.h"

#include <math.h>

static double slope(const struct formula *formula, double *events, double *metrics, double *by, double value) {
    double middle = *by, step = 1e-4 * fabs(middle);
    if (!(step > 0)) // NaN too
        return 0;
    *by = middle + step;
    double above = formula_evaluate_known(formula, events, metrics);
    *by = middle - step;
    double below = formula_evaluate_known(formula, events, metrics);
    *by = middle;
    double rise = isnan(below) ? 2 * (above - value) : isnan(above) ? 2 * (value - below) : above - below;
    return isfinite(rise) ? rise / (2 * step) : 0;
}

double estimate_slopes(const struct formula *formula, double *events, double *metrics, double *slopes) {
    double value = formula_evaluate_known(formula, events, metrics);
    for (size_t i = 0; i < formula->n_variables; i++)
        slopes[i] = isnan(value) ? 0 : slope(formula, events, metrics, &events[formula->variables[i]], value);
    for (size_t i = 0; i < formula->n_metrics; i++)
        slopes[formula->n_variables + i] =
            isnan(value) ? 0 : slope(formula, events, metrics, &metrics[formula->metrics[i]], value);
    return value;
}
