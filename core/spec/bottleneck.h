// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_BOTTLENECK_H
#define TOPDOWND_CORE_SPEC_BOTTLENECK_H

// What pipeline slots go to, by what a developer can do about it: the headings of Intel's summary metrics
// (tma_bottleneck_*, A. Yasin's TMA metrics 4.7 and later) for every vendor. They divide all slots; a remedy can win
// what stands beside it, and hardly more.
//
// A spec has a formula for each heading that its CPU's events carry (docs/bottlenecks.md), over the values of other
// metrics. A coarse heading is what is known of several finer ones where these cannot be told apart.

#include <stdbool.h>

enum bottleneck { // recordings hold these numbers
    BOTTLENECK_MISPREDICTIONS,
    BOTTLENECK_BIG_CODE,
    BOTTLENECK_INSTRUCTION_SUPPLY,
    BOTTLENECK_DATA_BANDWIDTH,
    BOTTLENECK_DATA_LATENCY,
    BOTTLENECK_DATA_TLBS,
    BOTTLENECK_SYNCHRONIZATION,
    BOTTLENECK_COMPUTE,
    BOTTLENECK_IRREGULAR,
    BOTTLENECK_OTHER,
    BOTTLENECK_BRANCHING,
    BOTTLENECK_USEFUL_WORK,
    BOTTLENECK_COARSE, // from here on
    BOTTLENECK_FRONT_END = BOTTLENECK_COARSE,
    BOTTLENECK_BAD_SPECULATION,
    BOTTLENECK_MEMORY,
    BOTTLENECK_EXECUTION,
    BOTTLENECK_RETIRING,
    BOTTLENECK_BACK_END, // after the coarse ones that are its parts
    BOTTLENECK_N
};

struct bottleneck_info {
    const char *name;
    const char *title, *remedy; // for people
    unsigned parts;             // of a coarse one: the headings below it, a bit each
};
extern const struct bottleneck_info bottleneck_table[BOTTLENECK_N];

// The metric group of all that a spec's headings are made of.
#define BOTTLENECK_GROUP "Bottlenecks"

static inline bool bottleneck_has_part(enum bottleneck coarse, enum bottleneck part) {
    return (bottleneck_table[coarse].parts >> part & 1) != 0;
}

#endif
