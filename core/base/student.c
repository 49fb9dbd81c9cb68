// SPDX-License-Identifier: Apache-2.0
#include "core/base/student.h"

#include <math.h>
#include <stddef.h>

double student_95(double degrees) {
    static const double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281};
    const size_t n = sizeof table / sizeof *table;
    double d = fmax(degrees, 1); // handles NaN too
    if (d >= (double)n)          // Cornish and Fisher's expansion in 1/d; its error at 10 is below 0.1 %
        return 1.95996 + 2.37227 / d + 2.8225 / (d * d) + 2.5558 / (d * d * d) + 1.5895 / (d * d * d * d);
    size_t below = (size_t)d - 1;
    double low = (double)(below + 1), weight = (1 / low - 1 / d) / (1 / low - 1 / (low + 1)); // nearly linear in 1/d
    return table[below] + weight * (table[below + 1] - table[below]);
}
