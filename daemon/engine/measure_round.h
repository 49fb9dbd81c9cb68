// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_ENGINE_MEASURE_ROUND_H
#define TOPDOWND_DAEMON_ENGINE_MEASURE_ROUND_H

// What measuring makes of readings: the snapshot, with what is known of the PMU beside it, and what follows from it:
// the recording, the verdicts, the log, and whether another plan is due.

#include "daemon/engine/measure_plan.h"

// Takes in the sampler's readings, and returns their snapshot. NULL: no memory, and only the totals have the round.
struct snapshot *measure_end_round(struct measure *m, uint64_t now_ns);

// The current totals, without gauges. NULL: out of memory.
struct snapshot *measure_present(struct measure *m);

#endif
