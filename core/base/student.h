// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_STUDENT_H
#define TOPDOWND_CORE_BASE_STUDENT_H

#include "core/base/lanes.h"

// The number of standard errors that a 95 % interval extends to either side, if the standard error was itself estimated
// from few values: the 97.5 % quantile of Student's t distribution ("The probable error of a mean", Biometrika 6,
// 1908). Degrees of freedom may be fractional; values below 1 count as 1. Accurate to 0.1 % at whole numbers, to 1 %
// from 1.5 on.
double student_95(double degrees);
struct lanes student_95_lanes(const struct lanes *degrees);

// How probable it is that a value lies at least t standard errors from where it is expected, on either side: 1 at
// t = 0. By the incomplete beta function (Abramowitz and Stegun, 26.7.1 and 26.5.8), to about 1e-9.
double student_tails(double t, double degrees);

#endif
