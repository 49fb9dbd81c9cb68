// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_EVENT_NEED_H
#define TOPDOWND_CORE_SPEC_EVENT_NEED_H

// The counters that an event needs, as stated by a spec. core/plan/fit.h decides whether several events fit together.

#include <stdbool.h>
#include <stdint.h>

enum { EVENT_COUNTERS_MAX = 64, EVENT_FIXED_MAX = 64, EVENT_REGISTERS_MAX = 8 };

// An event's needs. All zero except fixed = -1: any one general counter.
struct event_need {
    uint64_t counters; // general counters that can count it, one bit each; 0: any
    unsigned takes; // general counters at once; 0 is 1. Several are adjacent, and the first one's number is a multiple
                    // of `takes`; `counters` then gives the possible first ones. AMD's events of more than 15 a cycle
                    // need this: an even counter and the next (Linux, arch/x86/events/amd/core.c, amd_core_pmu_init:
                    // even_ctr_mask)
    int fixed;      // number of its own fixed counter, below EVENT_FIXED_MAX; -1: none. If others or another event of
                    // the group hold it, the event needs general ones
    unsigned reg;   // shared register that it programs, counted from 1, at most EVENT_REGISTERS_MAX; 0: none
    uint64_t reg_value; // the value it programs
    bool free;          // needs no counter: software, msr, a field of PERF_METRICS
    bool exclusive;     // while a hardware thread counts it, each thread of the core may use half of its general
                        // counters, if SMT was on at boot (core/plan/fit.h)
};

#endif
