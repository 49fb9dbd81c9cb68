// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_PLAUSIBLE_H
#define TOPDOWND_CORE_TALLY_PLAUSIBLE_H

// Counts that cannot be: they fell, or grew faster than any counter can. They come from hardware that is reset under a
// running event (a live migration, a suspend, a virtual PMU) or from a driver's bug, and one of them would stay in the
// totals for ever. A window with such a count or time has no data; it is never scaled.
//
// The bounds are generous: what they let through may be wrong, but what they hold back is wrong. A jump on x86 is about
// 2^47, and a fall is nearly 2^64 as a difference; a window of a fifth of a second may count 2^39.

#include <stdbool.h>
#include <stdint.h>

#include "core/plan/plan.h"
#include "core/tally/readings.h"

// No CPU's clock is faster: the fastest one sold runs at 6.2 GHz, the record under liquid helium is 9.1 GHz.
enum { PLAUSIBLE_CYCLES_A_NANOSECOND = 10 };
// Events with a counter of their own count cycles, instructions and pipeline slots, and the fields of PERF_METRICS
// are shares of the slots. The widest core known has 10 pipeline slots a cycle.
enum { PLAUSIBLE_FIXED_A_CYCLE = 16 };
// Other events count more: operations of wide vectors, or all the requests that are under way in a cycle. Software
// events that count nanoseconds or bytes stay far below.
enum { PLAUSIBLE_OTHERS_A_CYCLE = 256 };

// Counts of another PMU than the catalog's first may be sums over all cores of a socket
// (collectors/uncore/pmu_joined.h).
enum { PLAUSIBLE_SUMS_A_CYCLE = 4096 };

// Judges a window of `plan` by its times and counts. If they cannot be, it becomes WINDOW_IMPLAUSIBLE: its counts are
// 0, and so are impossible times. elapsed_ns: at most this much time has passed since the window began; UINT64_MAX: not
// known.
//
// `most`: by event of the window's group, how much it can count a second at most (core/uncore/uncore_most.h), which
// takes the place of the bounds above; INFINITY: they hold. NULL: they hold for all.
//
// *doubtful belongs to the event group on its CPU, and is false at first; NULL: not known. It says that the counts fell
// in the last window. They may be back in the next one (arm64 reads the two halves of a chained counter one after the
// other, so that a read may be 2^32 short), whose difference would then be too large: it is refused as well.
void plausible_judge(struct window *window, const struct plan *plan, const double *most, uint64_t elapsed_ns,
                     bool *doubtful);

#endif
