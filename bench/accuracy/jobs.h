// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_ACCURACY_JOBS_H
#define TOPDOWND_BENCH_ACCURACY_JOBS_H

// Runs jobs side by side.

enum { JOBS_MAX = 256 };

// Runs jobs 0 to n - 1 on `threads` threads, at most JOBS_MAX, and returns after the last one.
void jobs_run(unsigned n, unsigned threads, void (*run)(void *context, unsigned job), void *context);

#endif
