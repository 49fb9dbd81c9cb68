// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COMPARE_DIFFERENCE_H
#define TOPDOWND_CORE_COMPARE_DIFFERENCE_H

// Whether the metrics of two stretches differ, and by how much.
//
// A stretch's value is a quotient of sums over batches; its standard error follows from how much the batches differ
// (the ratio estimator: W. Cochran, Sampling Techniques, 1977, section 6.3). The 95 % interval of a difference is
// Welch's (Biometrika 34, 1947). Whether it is told apart from 0 allows for how many are compared: S. Holm's method
// (Scandinavian Journal of Statistics 6, 1979) keeps the probability of one false finding or more among all of them
// below 5 %.

#include "core/compare/stretch.h"

enum { DIFFERENCE_BATCHES = 16, DIFFERENCE_BATCHES_MIN = 6 }; // of each stretch, to be compared at all

enum difference_verdict {
    DIFFERENCE_OTHER_DEFINITION, // the two CPUs count something else under this name
    DIFFERENCE_TOO_SHORT,        // not measured long enough in one of them
    DIFFERENCE_NOT_TOLD_APART,
    DIFFERENCE_CHANGED, // and the metric does not say what is better
    DIFFERENCE_BETTER,
    DIFFERENCE_WORSE,
    DIFFERENCE_VERDICTS
};
const char *difference_verdict_name(enum difference_verdict verdict); // for programs and people

struct difference {
    const struct stretch_series *before, *after;
    enum difference_verdict verdict;
    double value_before, value_after; // NaN: not measured
    double low, high;                 // 95 % interval of after - before; NaN: too short
    double p;                         // of this one alone; NaN: too short
};

// Compares all series that both have. Returns 0, with the differences in the order of `before` in a list that the
// caller frees, or -ENOMEM.
int difference_find(const struct stretch *before, const struct stretch *after, struct difference **out, size_t *n);

// True if less work was done for the time: instructions a cycle or the retiring share are told apart and lower. All
// else may explain that, and is no harm by itself.
bool difference_is_regression(const struct difference *difference);

#endif
