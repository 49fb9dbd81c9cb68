// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_VERIFY_JUDGED_H
#define TOPDOWND_DAEMON_VERIFY_JUDGED_H

// Compares what was measured with what a kernel does. Pure: no clock, no process.

#include "daemon/base/findings.h"
#include "daemon/verify/measured.h"
#include "daemon/verify/perf_beside.h"

// The verdict: the kernel's category must be the largest part of level 1.
void judged_verdict(const struct kernel *kernel, const struct measured *measured, struct findings *findings);
// Counts for each iteration, each within its bounds.
void judged_counts(const struct kernel *kernel, const struct measured *measured, struct findings *findings);
// The same counts by perf.
void judged_perf(const struct kernel *kernel, const struct measured *measured,
                 const struct perf_count counts[PERF_EVENTS], struct findings *findings);

#endif
