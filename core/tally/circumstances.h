// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_CIRCUMSTANCES_H
#define TOPDOWND_CORE_TALLY_CIRCUMSTANCES_H

// What the verdicts on host and sockets do not tell, as values of a snapshot: how busy the CPUs are, how fast they run,
// what siblings take from one another, and which CPUs, cores and sockets differ from most others.
// core/diagnosis/around.h fills it in, together with the verdicts.

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/tally/verdict.h"

enum { OUTLIERS_MAX = 4, OUTLIERS_RANGES_MAX = 6 };

// Of what the CPUs are outliers: each on its own, with all their SMT siblings, or as a socket.
enum outliers_unit { OUTLIERS_CPU, OUTLIERS_CORE, OUTLIERS_SOCKET, OUTLIERS_UNIT_N };

// CPUs whose share of a level-1 metric is far above that of most CPUs.
struct outliers {
    enum outliers_unit unit;
    unsigned metric;     // of level 1, in the catalog; without level 1 a root of the tree
    double share, usual; // the mean of these units; the median of all
    unsigned last;       // the last metric of the path of the one that differs most
    double last_share;   // the mean of these CPUs
    double slots;        // what they lose more than others, in CPUs: the largest comes first
    size_t n, n_units;   // CPUs; CPUs, cores, or 1 socket
    size_t n_ranges;     // the first OUTLIERS_RANGES_MAX of them, socket by socket
    bool more;           // there are more ranges
    struct outliers_range {
        unsigned first, last; // the kernel's numbers of the CPUs
        unsigned socket;      // index
    } ranges[OUTLIERS_RANGES_MAX];
    int socket; // index of the one that all of them belong to, of several; -1: none
};

struct circumstances {
    double utilisation; // share of the time in which CPUs were awake, as the PMU counts it, else the kernel; NaN: not
                        // known
    bool kernels;       // the kernel's times tell it
    double busiest;     // of the busiest CPU
    double hertz;       // while awake; NaN: not known
    double limit_hertz; // what a busy CPU of this host should reach; NaN: not known
    double siblings;    // share of a thread's slots that its sibling got; NaN: not known
    bool idle;          // so little runs that nothing is to be gained
    bool slow;          // CPUs are busy and run below limit_hertz
    bool crowded;       // siblings take much from one another
    size_t n_outliers;
    struct outliers outliers[OUTLIERS_MAX];
    bool rest_is_fine;            // there are outliers, and the other CPUs together are bound by nothing
    struct verdict_phases phases; // core/diagnosis/diagnosis.h fills it in
};

static inline struct circumstances circumstances_unknown(void) {
    return (struct circumstances){.utilisation = NAN,
                                  .busiest = NAN,
                                  .hertz = NAN,
                                  .limit_hertz = NAN,
                                  .siblings = NAN,
                                  .phases = verdict_phases_unknown()};
}

#endif
