// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_SPEC_TRAFFIC_H
#define TOPDOWND_CORE_SPEC_TRAFFIC_H

// What the counters outside the cores tell on every vendor under the same names: bytes by where they go. A spec says
// which of its metrics is which traffic; the metric's numerator times its factor are the bytes.

#include <stdbool.h>

#include "core/spec/family.h"

enum traffic {
    TRAFFIC_NONE,
    TRAFFIC_MEMORY_READ, // of DRAM
    TRAFFIC_MEMORY_WRITE,
    TRAFFIC_MEMORY_ALL, // both, where the PMU does not tell them apart
    TRAFFIC_HBM_READ,   // of memory in the package
    TRAFFIC_HBM_WRITE,
    TRAFFIC_PERSISTENT_READ, // of modules that keep their data
    TRAFFIC_PERSISTENT_WRITE,
    TRAFFIC_CXL_READ, // of memory behind CXL
    TRAFFIC_CXL_WRITE,
    TRAFFIC_MEMORY_PEAK,    // what DRAM could have moved: its clock tells
    TRAFFIC_LLC_MISS_LOCAL, // misses of last-level caches, by whether they cross sockets
    TRAFFIC_LLC_MISS_REMOTE,
    TRAFFIC_INTERCONNECT_IN, // from other sockets
    TRAFFIC_INTERCONNECT_OUT,
    TRAFFIC_IO_IN, // what PCIe devices wrote
    TRAFFIC_IO_OUT,
    TRAFFIC_C2C_IN, // what devices wrote through a link between chips
    TRAFFIC_C2C_OUT,
    TRAFFIC_N
};

struct traffic_info {
    const char *name; // in a spec
    enum family family;
    const char *label, *value; // of its series, beside the socket; NULL: none
    const char *kind;          // the label `kind`; NULL: the family has none
};
extern const struct traffic_info traffic_table[TRAFFIC_N]; // without TRAFFIC_NONE, which is all NULL

// The definitions of the misses' metrics: PMUs beside the caches tell what a socket fetched, and home agents what was
// requested of the memory of a socket, where the remote misses are those of other sockets.
extern const char TRAFFIC_FETCHED[], TRAFFIC_REQUESTED[];
bool traffic_is_requested(const char *definition);

// TRAFFIC_NONE: there is no such name.
enum traffic traffic_find(const char *name);

// True for bytes that passed: not for none, and not for those that could have.
bool traffic_passes(enum traffic traffic);

#endif
