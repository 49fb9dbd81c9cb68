// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_BENCH_HOST_V2_HOST_H
#define TOPDOWND_BENCH_HOST_V2_HOST_H

// A host of Neoverse V2 with two sockets and SMT, with the shipped spec and the default metric groups.

#include "core/tally/snapshot.h"
#include "exporters/view/view.h"

struct v2_host {
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct view view;
};

// Ends the benchmark if it fails.
void v2_host_init(struct v2_host *host, unsigned cpus);
void v2_host_deinit(struct v2_host *host);

// A snapshot with counts of some hours, seconds and ratios with all their digits: each call gives others.
struct snapshot *v2_host_snapshot(const struct v2_host *host);

#endif
