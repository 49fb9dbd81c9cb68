// SPDX-License-Identifier: Apache-2.0
#include "core/base/student.h"

#include <math.h>

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

// ---- tails ----

// The continued fraction of the incomplete beta function, by Lentz's method.
static double beta_fraction(double x, double a, double b) {
    static const double tiny = 1e-300;
    double c = 1, d = 1 / fmax(1 - (a + b) * x / (a + 1), tiny), fraction = d;
    for (int i = 1; i <= 300; i++) {
        double even = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i));
        double odd = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1));
        d = 1 / (1 + even * d);
        c = 1 + even / c;
        fraction *= c * d;
        d = 1 / (1 + odd * d);
        c = 1 + odd / c;
        fraction *= c * d;
        if (fabs(c * d - 1) < 1e-12)
            break;
    }
    return fraction;
}

static double incomplete_beta(double x, double a, double b) {
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) // where the fraction converges fast
        return front * beta_fraction(x, a, b) / a;
    return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double student_tails(double t, double degrees) {
    return incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}
