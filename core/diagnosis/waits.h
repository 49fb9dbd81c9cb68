// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_WAITS_H
#define TOPDOWND_CORE_DIAGNOSIS_WAITS_H

// What a scope lacks that waits for memory: the rule alone. The cores' counters tell how long they wait, the memory's
// how much it moves: near its peak, bandwidth is short; far from it, each access takes its time (latency). In between
// nothing follows. docs/measurement.md has the reasons for the limits.
//
// The two sides come from two engines, which publish at different times: exporters/view/view_waits.h joins them, and
// says what follows in words.

#include "core/spec/catalog.h"

#define WAITS_NEAR 0.7 // of the peak and more
#define WAITS_FAR 0.4  // of the peak: less

// Above it no peak is believed: no memory moves more than it can, and nothing follows from a share of it. What is above
// 1 is left to clocks that differ and to rounded ratings.
#define WAITS_BEYOND 1.05

enum waits_bus { WAITS_BUS_FAR, WAITS_BUS_BETWEEN, WAITS_BUS_NEAR, WAITS_BUS_BEYOND, WAITS_BUS_N };

// Where between nothing and its peak the memory is, both in bytes a second. In between also if the peak is not known.
enum waits_bus waits_bus(double bytes, double peak);

enum waits_lack { WAITS_LACK_OPEN, WAITS_LACK_BANDWIDTH, WAITS_LACK_LATENCY };

// What is short where a metric that waits for this is high.
enum waits_lack waits_judge(enum catalog_waits waits, double bytes, double peak);

#endif
