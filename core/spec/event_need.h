// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_EVENT_NEED_H
#define TOPDOWND_CORE_SPEC_EVENT_NEED_H

// What an event asks of the counters. A spec states it; core/plan/fit.h answers whether several events fit together.

#include <stdbool.h>
#include <stdint.h>

enum { EVENT_COUNTERS_MAX = 64, EVENT_FIXED_MAX = 64, EVENT_REGISTERS_MAX = 8 };

// What an event needs. All zero but fixed = -1: any one general counter.
struct event_need {
    uint64_t counters; // general counters that can count it, bit per counter; 0: any
    unsigned takes; // general counters at once; 0 is 1. More than one are neighbours, and the first one's number is a
                    // multiple of `takes`; `counters` then says which can be the first. So it is with AMD's events
                    // of more than 15 a cycle: an even counter and the next (Linux, arch/x86/events/amd/core.c,
                    // amd_core_pmu_init: even_ctr_mask)
    int fixed;      // number of the fixed counter of its own, below EVENT_FIXED_MAX; -1: none. Where that is taken, by
               // others or by another event of the group, it needs general ones
    unsigned reg;       // shared register that it programs, counted from 1, at most EVENT_REGISTERS_MAX; 0: none
    uint64_t reg_value; // what it programs
    bool free;          // takes no counter at all: software, msr, a field of PERF_METRICS
};

#endif
