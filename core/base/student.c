// SPDX-License-Identifier: Apache-2.0
#include "core/base/student.h"

enum { TABLE_N = 10 }; // quantiles of 1, 2 ... degrees of freedom

// Between the entries of a table, nearly linear in 1/d.
static double from_table(double d) {
    static const double table[TABLE_N] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                                          2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
    size_t below = (size_t)d - 1;
    double low = (double)(below + 1), weight = (1 / low - 1 / d) / (1 / low - 1 / (low + 1));
    return table[below] + weight * (table[below + 1] - table[below]);
}

// Cornish and Fisher's expansion in 1/d; its error at 10 is below 0.1 %.
static double expand(double d) {
    return 1.95996 + 2.37227 / d + 2.8225 / (d * d) + 2.5558 / (d * d * d) + 1.5895 / (d * d * d * d);
}

double student_95(double degrees) {
    double d = lanes_max(degrees, 1);
    return d < TABLE_N ? from_table(d) : expand(d);
}

struct lanes student_95_lanes(const struct lanes *degrees) {
    struct lanes d, quantiles;
    for (size_t l = 0; l < LANES; l++)
        d.of[l] = lanes_max(degrees->of[l], 1);
    for (size_t l = 0; l < LANES; l++)
        quantiles.of[l] = expand(d.of[l]);
    for (size_t l = 0; l < LANES; l++)
        if (d.of[l] < TABLE_N)
            quantiles.of[l] = from_table(d.of[l]);
    return quantiles;
}
