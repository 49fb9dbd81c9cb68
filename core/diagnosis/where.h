// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_WHERE_H
#define TOPDOWND_CORE_DIAGNOSIS_WHERE_H

// Finds the CPUs, the cores with all their SMT siblings, and the sockets that lose far more pipeline slots than most
// (core/tally/circumstances.h). Of each level-1 metric other than useful work, a unit is far from the others if
//
// - its share is above the median of all such units by more than WHERE_ABOVE (a socket: WHERE_ABOVE_SOCKET, as it
//   loses the slots of all its CPUs), and by more than WHERE_SPREADS times the usual spread. The spread is the median
//   distance from the median, so that fewer than half of the units do not move it;
// - the interval of that distance, from its own error and that of the unit in the middle, leaves out 0, widened for as
//   many comparisons as there are units (Bonferroni): at 1,024 CPUs, 95 % intervals are 2.07 times as wide. A core's
//   interval is as wide as if its siblings erred in step;
// - for a core and a socket: three quarters of its CPUs that are awake, at least two, are above the median by half of
//   its distance. Else single CPUs make the difference, and they are named.
//
// CPUs that are nearly idle are left out. Levels with fewer than WHERE_CPUS_MIN CPUs or cores, or WHERE_SOCKETS_MIN
// sockets, have no outliers: no majority tells what is usual.
//
// A unit becomes an outlier in the round in which it is far for the second time in three, of the same metric. So one
// noisy round shows nothing, and what is far in most rounds appears soon: by chance, two such rounds of one unit are as
// rare as the square of the chance that the intervals allow. On hosts of more than 256 CPUs single CPUs have no
// intervals as long as nobody reads them (core/tally/derive.h): three rounds in a row stand in for the interval there.
// It stays one until, for three rounds in a row, its value itself, whatever its interval, is not above the limits times
// DIAGNOSIS_LOW_SHARE. A change of plan ends none.

#include <stdbool.h>

#include "core/diagnosis/tree.h"

#define WHERE_ABOVE 0.2
#define WHERE_ABOVE_SOCKET 0.1
#define WHERE_SPREADS 6.
enum { WHERE_CPUS_MIN = 4, WHERE_SOCKETS_MIN = 3 };

struct where; // private: memory for one layout

// `alone`: of a snapshot that no other one follows, which tells at once; without intervals only what is twice as far.
// NULL if out of memory.
struct where *where_new(const struct snapshot_layout *layout, bool alone);
struct where *where_free(struct where *where); // returns NULL, takes NULL

// Takes over what `old` remembers: CPUs and sockets by their numbers, metrics by their names.
void where_continue(struct where *where, const struct where *old);

// Takes a round. `awake`: the share of its time in which each CPU was awake; NaN: not known.
void where_take(struct where *where, const struct tree *tree, const struct snapshot *snapshot, const double *awake);

// Tells the outliers of the snapshot. The tree, of the same layout, is evaluated for other scopes.
void where_tell(const struct where *where, struct tree *tree, const struct snapshot *snapshot, const double *awake,
                struct circumstances *out);

#endif
