// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_ESTIMATE_ESTIMATE_QUALITY_H
#define TOPDOWND_CORE_ESTIMATE_ESTIMATE_QUALITY_H

// How good an interval is, and why it is poor or absent.
//
// An interval is poor if it is wide, and also if its width is hardly known: if so few rounds or windows tell how far
// off the value may be that the interval takes more than 3.3 standard errors to either side (fewer than about three
// degrees of freedom: core/base/student.h). Such a width may be far off itself, so a narrow one is no reason for trust.

#include <stdbool.h>

#include "core/spec/catalog.h"

enum estimate_quality {
    ESTIMATE_NONE, // there is no interval
    ESTIMATE_GOOD, // half its width: at most 1 point of a share, or 5 % of another value
    ESTIMATE_FAIR, // 3 points; 20 %
    ESTIMATE_POOR, // more; or its width is hardly known
    ESTIMATE_QUALITY_N
};
const char *estimate_quality_name(enum estimate_quality quality);

// Why an interval is poor or absent.
enum estimate_doubt {
    ESTIMATE_SURE, // it is neither; or nothing more is known
    ESTIMATE_FEW_ROUNDS,
    ESTIMATE_FEW_WINDOWS,
    ESTIMATE_FEW_CARRY, // few of the rounds carry what varies: one burst, or one change of the load
    ESTIMATE_SLEPT,     // the core slept most of the time: few windows, which differ by whether it was awake
    ESTIMATE_MISSED,    // its windows missed what other event groups saw
    ESTIMATE_ROUNDED,   // by the PMU, or its core's pipeline slots are an estimate
    ESTIMATE_VARIES,    // what is counted varies by that much from window to window
    ESTIMATE_DOUBTS
};
// For people, from the middle of a sentence on; NULL for ESTIMATE_SURE.
const char *estimate_doubt_text(enum estimate_doubt doubt);
// ESTIMATE_SURE: there is no such text.
enum estimate_doubt estimate_doubt_find(const char *text);

// What an interval's width comes from.
struct estimate_causes {
    enum estimate_doubt few;  // what leaves its variance few degrees of freedom
    enum estimate_doubt kept; // the largest of the errors that do not average out; ESTIMATE_SURE: there is none
};

// Half of an interval, and what it comes from. The lowest standard error (estimate_shape.h) has no part in `factor`.
struct estimate_width {
    double half;
    double factor;               // how many standard errors it extends to
    double by_chance, kept;      // variances: that which differences tell, and that of errors that do not average out
    struct estimate_causes from; // as above
};

struct estimate_judgement {
    enum estimate_quality quality;
    enum estimate_doubt doubt;
};
struct estimate_judgement estimate_judge(const struct catalog_metric *metric, double value,
                                         const struct estimate_width *width);

// By half its width alone.
enum estimate_quality estimate_quality_of(const struct catalog_metric *metric, double value, double half);

// True if an interval takes more standard errors than one whose width is known.
static inline bool estimate_hardly_known(double factor) { return factor > 3.3; }

#endif
