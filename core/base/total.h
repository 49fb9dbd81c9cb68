// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_TOTAL_H
#define TOPDOWND_CORE_BASE_TOTAL_H

// A sum that stays exact over years: it keeps each addition's rounding error and adds it back (Neumaier,
// "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974).

#include <math.h>

struct total {
    double sum, rounded_away;
};

static inline void total_add(struct total *total, double amount) {
    double sum = total->sum + amount;
    total->rounded_away += fabs(total->sum) >= fabs(amount) ? total->sum - sum + amount : amount - sum + total->sum;
    total->sum = sum;
}

static inline double total_value(const struct total *total) { return total->sum + total->rounded_away; }

#endif
