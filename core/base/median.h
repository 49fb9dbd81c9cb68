// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_MEDIAN_H
#define TOPDOWND_CORE_BASE_MEDIAN_H

#include <stddef.h>

// The median of n values, none of them NaN; of an even number the mean of the two in the middle; NaN of none. Moves the
// values around. It takes time in proportion to n (C. A. R. Hoare, "Algorithm 65: Find", Communications of the ACM 4,
// 1961).
double median_of(double *values, size_t n);

#endif
