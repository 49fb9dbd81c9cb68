// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_BASE_SPAN_H
#define TOPDOWND_CORE_BASE_SPAN_H

// The time that a measurement represents. A round with data represents itself and the few rounds without data before
// it; a longer gap is given up. An offline CPU does nothing that its later data could represent, so that gap has a
// limit of 0.

#include <stdbool.h>

struct span {
    double pending_seconds; // without data so far, not yet given up
    bool given_up;          // the gap is too long: uncovered until data returns
};

struct span_step {
    double covered_seconds;   // time that this round's data represents
    double uncovered_seconds; // time given up now
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
