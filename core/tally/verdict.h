// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_VERDICT_H
#define TOPDOWND_CORE_TALLY_VERDICT_H

// What a scope is bound by, as one value. diagnosis_round works it out once for the host and each socket of a snapshot
// (bound_fill, of a snapshot that no diagnosis takes). Every output reads it from the snapshot and judges nothing, so
// that no two can disagree. Of single CPUs it is worked out when somebody asks (core/diagnosis/bound.h).
//
// There are two: that of the last round, which agrees with the numbers beside it, and the lasting one, which a noisy
// round does not change.

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// Whether something is high: NO or YES; UNKNOWN if that depends on a missing value.
enum judge_answer { JUDGE_NO, JUDGE_YES, JUDGE_UNKNOWN };

enum { VERDICT_PATH_MAX = 32 };                             // deeper nodes of the tree are left out
enum { VERDICT_NOTHING_HIGH = -1, VERDICT_NOT_KNOWN = -2 }; // in place of a metric

// What the last metric of a path most likely comes from, where the tree does not go on (core/diagnosis/cause.h).
enum verdict_cause_kind {
    CAUSE_NONE,         // not looked for, or nothing measured tells
    CAUSE_METRIC,       // a share that the methodology leads to
    CAUSE_SECOND_LEVEL, // data that the second-level cache has
    CAUSE_LAST_LEVEL,   // data that the last-level cache has
    CAUSE_MEMORY,       // data from beyond the caches
    CAUSE_TRANSLATION,  // page walks
    CAUSE_EXECUTION,    // misses are too few: chains of dependent operations, or slow ones
    CAUSE_OPEN,         // misses of several levels are enough for it
    CAUSE_N
};

struct verdict_cause {
    enum verdict_cause_kind kind;
    int metric;   // CAUSE_METRIC: of the catalog; else -1
    double share; // of that metric, in export scale; of cycles at most for misses; at least for execution; NaN: none
};

struct verdict_since {
    double seconds;           // since the epoch; NaN: not known
    double unwatched_seconds; // of the time since then, in which topdownd did not run
    bool at_least;            // its beginning was not seen, so that it may be older
};

// Metrics are those of the catalog that others name (catalog_metric_named).
struct verdict {
    size_t n;                        // metrics of the path; 0: nothing is known
    unsigned path[VERDICT_PATH_MAX]; // root first; the last one tells which steps follow (core/diagnosis/next.h)
    enum judge_answer high;          // NO: none is, the path is only the largest share; UNKNOWN: none is known to be
    int close;                       // the largest other root that cannot be told apart from the first one; -1: none
    int missing;                     // the root that is asked for the reason if nothing is known; -1: the plan has none
    struct verdict_since since;
    bool well;                  // useful work is high, and it is done well: nothing is to be changed
    struct verdict_cause cause; // of the last metric of the path, if it is high
};

struct verdict_lasting {
    int metric; // the last one of the path, which identifies it; or VERDICT_NOTHING_HIGH, VERDICT_NOT_KNOWN
    struct verdict_since since;
    bool certain; // the last round gives the same one, and its intervals leave no doubt of it
};

// What it was bound by before, by roots of the tree (core/diagnosis/phases.h).
struct verdict_phases {
    int usual, other, now; // most of the time; second to that; at last. Of the catalog; VERDICT_NOTHING_HIGH; or none:
                           // VERDICT_NOT_KNOWN
    double usual_share, other_share; // of the time
    double seconds, now_seconds;     // of which that is; since the last change
    unsigned changes;
    bool swings; // it changes again and again between these two
};

struct verdict_scope {
    struct verdict now;
    struct verdict_lasting lasting;
};

static inline struct verdict_phases verdict_phases_unknown(void) {
    return (struct verdict_phases){.usual = VERDICT_NOT_KNOWN,
                                   .other = VERDICT_NOT_KNOWN,
                                   .now = VERDICT_NOT_KNOWN,
                                   .usual_share = NAN,
                                   .other_share = NAN,
                                   .seconds = NAN,
                                   .now_seconds = NAN};
}

static inline struct verdict_since verdict_since_unknown(void) {
    return (struct verdict_since){.seconds = NAN, .unwatched_seconds = NAN};
}

// The verdict of a scope of which nothing is known.
static inline struct verdict_scope verdict_unknown(int missing) {
    return (struct verdict_scope){.now = {.high = JUDGE_UNKNOWN,
                                          .close = -1,
                                          .missing = missing,
                                          .since = verdict_since_unknown(),
                                          .cause = {.metric = -1, .share = NAN}},
                                  .lasting = {.metric = VERDICT_NOT_KNOWN, .since = verdict_since_unknown()}};
}

// True if the scope is bound by something: the path's metrics are high.
static inline bool verdict_high(const struct verdict *verdict) { return verdict->n > 0 && verdict->high == JUDGE_YES; }

// The metric that identifies it.
static inline int verdict_metric(const struct verdict *verdict) {
    return verdict->n == 0         ? VERDICT_NOT_KNOWN
           : verdict_high(verdict) ? (int)verdict->path[verdict->n - 1]
                                   : VERDICT_NOTHING_HIGH;
}

#endif
