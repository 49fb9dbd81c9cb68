// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_STUDENT_H
#define TOPDOWND_CORE_BASE_STUDENT_H

// How many standard errors a 95 % interval reaches to either side, when the standard error itself was estimated from
// few values: the 97.5 % quantile of Student's t distribution ("The probable error of a mean", Biometrika 6, 1908).
// Degrees of freedom may be fractions; fewer than 1 count as 1. Exact to 0.1 % at whole numbers, to 1 % from 1.5 on.
double student_95(double degrees);

#endif
