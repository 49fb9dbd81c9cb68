// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HEALTH_HEALTH_H
#define TOPDOWND_EXPORTERS_HEALTH_HEALTH_H

// Whether topdownd counts what it is configured to count: the one answer, which /-/ready, systemd's status line,
// `topdownd doctor` and topdownd_not_ready (so the alert and the Ansible role) give alike.
//
// The daemon is ready while something of the cores is counted that it is configured to count: hardware events, or on
// a host without a PMU the kernel's software events. It is also ready where nothing is configured, and while the
// counters are handed over on request. On a host with several core types one that counts is enough. Kinds of PMUs
// outside the cores decide only where the configuration measures nothing else. Each part that does not count is named,
// with the reason, whether the daemon is ready or not.

#include "exporters/view/shown.h"

enum health_reason {
    HEALTH_FINE,
    HEALTH_STARTING,    // the first round has not ended
    HEALTH_STALE,       // snapshots do not arrive any more
    HEALTH_NOT_ALLOWED, // the kernel refuses event groups for lack of rights,
    HEALTH_FAILED,      // or for another reason
    HEALTH_STARVED,     // others hold the counters
    HEALTH_OFFLINE,
    HEALTH_SILENT,   // events that must count do not
    HEALTH_FILTERED, // likewise, while others count: something filters events
    HEALTH_NOT_PLANNABLE,
    HEALTH_REASON_N
};
const char *health_reason_name(enum health_reason reason); // one word, the same in every version; FINE: "none"
const char *health_remedy(enum health_reason reason);      // what to do, in a sentence; FINE: ""

struct health {
    bool ready;
    enum health_reason reason; // of the first part that does not count; HEALTH_FINE: all parts do
};

// `stale`: a bit for each type of `shown` that is too old, beside those whose snapshot says so.
struct health health_judge(const struct shown *shown, uint64_t stale);

// Writes a line for each part that does not count, with the reason for people; "" if all do. Cut at size - 1.
enum { HEALTH_TEXT_MAX = 1024 };
void health_text(const struct shown *shown, uint64_t stale, char *out, size_t size);

// For a page of series, one for each reason but HEALTH_FINE. Of the reason that is given: 1 where topdownd is not
// ready, 0 where it is and a part does not count. NaN for all others.
double health_series(const struct shown *shown, enum health_reason reason);

#endif
