// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_BOTTLENECKS_H
#define TOPDOWND_CORE_DIAGNOSIS_BOTTLENECKS_H

// What would help how much in a scope (core/spec/bottleneck.h): the spec's headings, evaluated where somebody shows
// them. So they cost neither a counter nor memory for each CPU.
//
// A formula takes the values that the snapshot has. A metric that the plan lacks is worked out where it is made only of
// others that have values; else the heading is missing. A coarse heading stands for what its parts leave of it, and not
// at all if these tell everything.
//
// The interval of a heading is as wide as if all its inputs erred together, so that it is rather too wide: the snapshot
// does not tell how they vary together.

#include "core/spec/bottleneck.h"
#include "core/tally/snapshot.h"

struct bottleneck_row {
    enum bottleneck heading;
    double value, low, high; // shares of all pipeline slots; NaN: none
    bool rest;               // of a coarse heading: parts are beside it
    int missing;             // without a value: the metric of the catalog that is asked for the reason
};

struct bottlenecks {
    struct bottleneck_row rows[BOTTLENECK_N]; // those with values first, the largest first
    size_t n_known, n;
    bool fine; // at least one heading that is not coarse has a value
};

// Of a scope; no rows if the spec has no headings. Returns 0 or -ENOMEM.
int bottlenecks_find(const struct snapshot *snapshot, size_t scope, struct bottlenecks *out);

#endif
