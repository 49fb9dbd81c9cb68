// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_KEPT_VERDICTS_H
#define TOPDOWND_CORE_DIAGNOSIS_KEPT_VERDICTS_H

// The lasting verdicts of host and sockets as plain data, which outlive the process: a restart or an upgrade of
// topdownd does not change what a host is bound by. core/kept/ writes them as bytes.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// With more scopes than that, those of the first core types and sockets are kept.
enum { KEPT_VERDICTS_MAX = 256, KEPT_TYPE_MAX = 64, KEPT_METRIC_MAX = 128 };

enum { KEPT_HOST = -1 };

struct kept_verdict {
    char type[KEPT_TYPE_MAX];     // the core type; "": the host has one
    long socket;                  // its id; KEPT_HOST: the host
    char metric[KEPT_METRIC_MAX]; // the last node of the path, by its name in the spec; "": nothing is high
    double since_seconds;         // since the epoch
    double unwatched_seconds;     // of the time since then
    bool at_least;                // its beginning was not seen
    uint64_t known_ns;            // the end of the last round with a verdict, on the monotonic clock
};

struct kept_verdicts {
    size_t n;
    struct kept_verdict all[KEPT_VERDICTS_MAX];
};

#endif
