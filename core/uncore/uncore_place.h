// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_UNCORE_UNCORE_PLACE_H
#define TOPDOWND_CORE_UNCORE_UNCORE_PLACE_H

// Which CPU reads which box. A PMU outside the cores has a `cpumask` with one CPU for each of its boxes, and an event
// counts the box of the CPU that it is opened on. So a CPU of the mask stands for the part of the host around it: a die
// (arch/x86/events/intel/uncore.c), a last-level cache or what AMD's CPUs call a node (arch/x86/events/amd/uncore.c,
// amd_uncore_ctx_init), a core (`power_core`), or, where each PMU has a single CPU, whatever is near its device
// (drivers/perf). No file says which it is, and it differs between versions of a driver, so it follows from the mask.
//
// When the CPU goes offline, drivers take another one of the same part. Where none is left, the box is gone; a driver
// of a single device may take any CPU.

#include <stdbool.h>
#include <stddef.h>

#include "core/base/cpuset.h"

// Where a CPU lies, in the kernel's numbers; -1: unknown.
struct uncore_place {
    int package;
    int die;   // within the package
    int node;  // NUMA node
    int cache; // last-level cache
    int core;  // within the package or the die
};

// The parts of a host, from the largest to the smallest.
enum uncore_part {
    UNCORE_PART_HOST,
    UNCORE_PART_PACKAGE,
    UNCORE_PART_DIE,
    UNCORE_PART_NODE,
    UNCORE_PART_CACHE,
    UNCORE_PART_CORE,
    UNCORE_PARTS_N
};

// True if two CPUs are known to lie in the same part.
bool uncore_place_same(const struct uncore_place *a, const struct uncore_place *b, enum uncore_part part);

// The CPUs of a PMU's mask.
struct uncore_mask {
    size_t n;
    unsigned *cpus;              // ascending
    struct uncore_place *places; // where each of them lies
    // The CPUs that lie in the same part as one of them, by part; empty where the kernel does not tell.
    struct cpuset around[UNCORE_PARTS_N];
};

// What a mask is made of: the smallest parts of which each that has a CPU online has exactly one CPU in the mask. So a
// box is not taken for another one only because both lie in the same larger part. If there are none, a mask of one CPU
// is the host's, and one of several CPUs is made of the largest parts that tell them apart. `online` is empty where it
// is not known.
enum uncore_part uncore_mask_part(const struct uncore_mask *mask, const struct cpuset *online);

void uncore_mask_deinit(struct uncore_mask *mask);

#endif
