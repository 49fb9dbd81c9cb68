// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_WHERE_PARTS_H
#define TOPDOWND_CORE_DIAGNOSIS_WHERE_PARTS_H

// What where.c, which finds outliers, and where_tell.c, which puts them together, share.

#include "core/diagnosis/tree.h"

struct where_seen {
    double share, usual, excess; // of the unit; the median of all; how far above it
};

// A CPU, a core or a socket.
struct where_unit {
    unsigned id; // the kernel's number of the CPU, of the core's first CPU, or of the socket
    // Of this round:
    int found; // the metric of which it is far, the farthest; -1: none
    struct where_seen farthest;
    bool by_interval; // intervals tell
    bool stays;       // near the limit or above it, of the metric of which it is an outlier
    // Of rounds:
    int told;               // the metric of which it is an outlier; -1: none
    struct where_seen last; // of the last round in which it stayed one
    unsigned missed;        // rounds since then
    int suspect;            // the metric of `seen`
    unsigned char seen;     // one bit for each of the last rounds, the newest first: it was far
};

struct where_level {
    size_t first, n; // its units; 0: nothing to compare
    double above;    // how far
    double widening; // of intervals
};

struct where {
    const struct snapshot_layout *layout; // borrowed
    bool alone;
    struct where_level levels[OUTLIERS_UNIT_N];
    size_t first_core, first_socket, n_units; // CPUs come first
    struct where_unit *units;
    // Of a metric, by unit; NaN: none, or nearly idle:
    double *values, *below, *above; // the value; how far its interval extends
    double *weights;                // of CPUs and cores: how much they are awake
    double *sorted;
};

// True if outliers of this node of the tree are looked for: a root that is no useful work.
bool where_asks(const struct tree *tree, size_t node);

#endif
