// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_VERIFY_MEASURED_H
#define TOPDOWND_DAEMON_VERIFY_MEASURED_H

// What one CPU did while a kernel ran, from one snapshot to another.

#include "daemon/source/setup.h"
#include "daemon/verify/kernel.h"

enum { MEASURED_NAME_MAX = 64, MEASURED_TOTALS_MAX = 8, MEASURED_LEVEL1_MAX = 8 };

struct measured {
    bool simulated, counters;
    char cpu[16];
    double seconds;
    double iterations; // of the kernel
    struct measured_total {
        const char *metric; // NULL ends the list
        bool denominator;
        double first, count; // at the first snapshot; since then
    } totals[MEASURED_TOTALS_MAX];
    struct measured_share {
        char name[MEASURED_NAME_MAX]; // of a category of level 1
        double share;
    } level1[MEASURED_LEVEL1_MAX];
    size_t n_level1;
    char bound[MEASURED_NAME_MAX]; // the first metric of the verdict's path; "": none stands out
    char reason[256];              // why level 1 has no values; "": it has
};

struct measured_request {
    const struct options *options; // with measure.seconds
    const char *cpu, *recording;
    const struct kernel_shared *shared;           // NULL: simulated
    void (*begun)(double seconds, void *context); // the first snapshot is there; so long it goes on
    void *context;
};

// Fills in what out->totals ask for, and the rest. Returns 0, -EINVAL with the reason in `errors`, -ETIME if no
// snapshot comes, or another negative errno.
int measured_take(const struct measured_request *request, struct measured *out, struct errors *errors);

#endif
