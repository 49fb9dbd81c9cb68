// SPDX-License-Identifier: Apache-2.0
#include "core/base/median.h"

#include <math.h>
#include <stdbool.h>

// Moves the values from `low` to `high` around, so that none up to the returned place, which is before `high`, is
// larger than any after it.
static size_t split(double *values, size_t low, size_t high) {
    double pivot = values[low + (high - low) / 2];
    size_t i = low, j = high;
    while (true) {
        while (values[i] < pivot)
            i++;
        while (values[j] > pivot)
            j--;
        if (i >= j)
            return j;
        double kept = values[i];
        values[i++] = values[j];
        values[j--] = kept;
    }
}

// Moves values around until the one at `k` is where sorting would put it, and none before it is larger.
static double select_kth(double *values, size_t n, size_t k) {
    size_t low = 0, high = n - 1;
    while (low < high) {
        size_t last = split(values, low, high);
        if (k <= last)
            high = last;
        else
            low = last + 1;
    }
    return values[k];
}

double median_of(double *values, size_t n) {
    if (n == 0)
        return NAN;
    double upper = select_kth(values, n, n / 2);
    if (n % 2)
        return upper;
    double lower = values[0];
    for (size_t i = 1; i < n / 2; i++)
        lower = fmax(lower, values[i]);
    return (lower + upper) / 2;
}
