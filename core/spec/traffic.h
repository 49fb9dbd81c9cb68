// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_TRAFFIC_H
#define TOPDOWND_CORE_SPEC_TRAFFIC_H

// What the counters outside the cores tell on every vendor under the same names: bytes by where they go. A spec says
// which of its metrics is which traffic; the metric's numerator times its factor are the bytes.

enum traffic {
    TRAFFIC_NONE,
    TRAFFIC_MEMORY_READ, // of DRAM
    TRAFFIC_MEMORY_WRITE,
    TRAFFIC_MEMORY_ALL,     // both, where the PMU does not tell them apart
    TRAFFIC_LLC_MISS_LOCAL, // by the home of the line that the last-level cache missed: this socket or node
    TRAFFIC_LLC_MISS_REMOTE,
    TRAFFIC_INTERCONNECT_IN, // from other sockets
    TRAFFIC_INTERCONNECT_OUT,
    TRAFFIC_N
};

struct traffic_info {
    const char *name;          // in a spec
    const char *label, *value; // of its series, beside the socket
};
extern const struct traffic_info traffic_table[TRAFFIC_N]; // without TRAFFIC_NONE, which is all NULL

// TRAFFIC_NONE: there is no such name.
enum traffic traffic_find(const char *name);

#endif
