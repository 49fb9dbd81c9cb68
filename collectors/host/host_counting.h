// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_HOST_HOST_COUNTING_H
#define TOPDOWND_COLLECTORS_HOST_HOST_COUNTING_H

// Which programs of this host have perf events open: each event is a file, and /proc tells whose.

#include <stddef.h>

#include "collectors/host/host_linux.h"

enum { HOST_PROGRAM_MAX = 32 };

struct host_counting {
    unsigned process; // the kernel's number
    char program[HOST_PROGRAM_MAX];
    size_t n_events;
};

// Finds the processes other than this one that have events open, those with the most events first, at most `max` of
// them. *n_hidden: processes whose files this one may not see. Returns how many were found, or a negative errno if
// procfs cannot be read.
int host_counting_find(const struct host_roots *roots, struct host_counting *out, size_t max, size_t *n_hidden);

#endif
