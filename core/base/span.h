// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_SPAN_H
#define TOPDOWND_CORE_BASE_SPAN_H

// The time that a measurement stands for. A round with data stands for itself and for the few rounds without data
// before it; a longer gap is given up. While a CPU is offline nothing happens on it that could be made up for: that gap
// has a limit of 0.

#include <stdbool.h>

struct span {
    double pending_seconds; // without data so far, not yet given up
    bool given_up;          // the gap has been too long: it goes on as uncovered until data returns
};

struct span_step {
    double covered_seconds;   // what this round's data stands for
    double uncovered_seconds; // what is given up now
};

// Takes a round of `seconds` with or without data; gaps longer than limit_seconds are given up.
static inline struct span_step span_advance(struct span *span, double seconds, bool data, double limit_seconds) {
    struct span_step step = {0};
    if (data) {
        step.covered_seconds = seconds + span->pending_seconds;
        *span = (struct span){0};
        return step;
    }
    span->pending_seconds += seconds;
    if (span->given_up || span->pending_seconds > limit_seconds) {
        step.uncovered_seconds = span->pending_seconds;
        *span = (struct span){.given_up = true};
    }
    return step;
}

#endif
