// SPDX-License-Identifier: Apache-2.0
#include "core/spec/bottleneck.h"

#define PART(heading) (1U << BOTTLENECK_##heading)

const struct bottleneck_info bottleneck_table[BOTTLENECK_N] = {
    [BOTTLENECK_MISPREDICTIONS] = {"mispredictions", "Mispredicted branches",
                                   "Make hot branches predictable: profile-guided optimisation, sorted or partitioned "
                                   "data, conditional moves.",
                                   0},
    [BOTTLENECK_BIG_CODE] = {"big_code", "Large code",
                             "Shrink hot code and lay it out anew (PGO, BOLT), and put it on huge pages.", 0},
    [BOTTLENECK_INSTRUCTION_SUPPLY] =
        {"instruction_supply", "Supply of instructions",
         "Keep hot loops small and aligned, so that the caches of decoded operations hold "
         "them.",
         0},
    [BOTTLENECK_DATA_BANDWIDTH] = {"data_bandwidth", "Bandwidth of caches and memory",
                                   "Move fewer bytes: block loops for the caches, make structures denser, fill all "
                                   "memory channels.",
                                   0},
    [BOTTLENECK_DATA_LATENCY] = {"data_latency", "Latency of caches and memory",
                                 "Prefetch, make the working set smaller, and avoid chains of pointers.", 0},
    [BOTTLENECK_DATA_TLBS] = {"data_tlbs", "Translation of data addresses", "Use huge pages for data.", 0},
    [BOTTLENECK_SYNCHRONIZATION] = {"synchronization", "Data that several cores write",
                                    "Shard locks and counters, and keep what different threads write on lines of "
                                    "their own.",
                                    0},
    [BOTTLENECK_COMPUTE] = {"compute", "Execution units",
                            "Vectorise, divide less, and balance the kinds of operations.", 0},
    [BOTTLENECK_IRREGULAR] = {"irregular_overhead", "Microcode, assists and flushes",
                              "Avoid denormal numbers, complex instructions and code that changes itself.", 0},
    [BOTTLENECK_OTHER] = {"other", "Other waits of the back end",
                          "Shorten chains of dependent operations; the tree tells what else waits.", 0},
    [BOTTLENECK_BRANCHING] = {"branching_overhead", "Branches, calls and padding", "Inline and unroll hot code.", 0},
    [BOTTLENECK_USEFUL_WORK] = {"useful_work", "Useful operations",
                                "Only fewer operations help: a better algorithm, wider vectors.", 0},
    [BOTTLENECK_FRONT_END] = {"front_end", "Waits for instructions",
                              "Lay out hot code anew (PGO, BOLT), and put it on huge pages.",
                              PART(BIG_CODE) | PART(INSTRUCTION_SUPPLY)},
    [BOTTLENECK_BAD_SPECULATION] = {"bad_speculation", "Discarded work",
                                    "Make hot branches predictable; avoid what flushes the pipeline.",
                                    PART(MISPREDICTIONS) | PART(IRREGULAR)},
    [BOTTLENECK_MEMORY] = {"memory", "Waits for data", "Make the working set smaller, and prefetch.",
                           PART(DATA_BANDWIDTH) | PART(DATA_LATENCY) | PART(DATA_TLBS) | PART(SYNCHRONIZATION)},
    [BOTTLENECK_EXECUTION] = {"execution", "Waits for execution",
                              "Vectorise, divide less, and shorten chains of dependent operations.",
                              PART(COMPUTE) | PART(OTHER)},
    [BOTTLENECK_RETIRING] = {"retiring", "Retired operations",
                             "Only fewer operations help: a better algorithm, wider vectors.",
                             PART(BRANCHING) | PART(USEFUL_WORK)},
    [BOTTLENECK_BACK_END] = {"back_end", "Waits for data or execution",
                             "Make the working set smaller, and shorten chains of dependent operations.",
                             PART(MEMORY) | PART(EXECUTION)},
};
