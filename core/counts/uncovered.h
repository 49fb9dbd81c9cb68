// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_UNCOVERED_H
#define TOPDOWND_CORE_COUNTS_UNCOVERED_H

// Why CPU time is uncovered.
enum uncovered {
    UNCOVERED_STARVED,       // other users held the counters
    UNCOVERED_FAILED,        // an event group could not be opened or read, or gave counts that cannot be
    UNCOVERED_OFFLINE,       // the CPU was offline
    UNCOVERED_STALLED,       // an event ran and never counted
    UNCOVERED_NOT_PLANNABLE, // the metric does not fit the available counters, or needs an event that does not exist
    UNCOVERED_YIELDED,       // topdownd yielded the counters on request
    UNCOVERED_GAP,           // topdownd itself did not run for more than a few rounds (stopped, suspended, overloaded)
    UNCOVERED_N
};
const char *uncovered_name(enum uncovered reason);

#endif
