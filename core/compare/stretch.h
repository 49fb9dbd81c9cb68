// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COMPARE_STRETCH_H
#define TOPDOWND_CORE_COMPARE_STRETCH_H

// A stretch of time of one host, as far as another one can be compared with it: for each scope and each metric that is
// a quotient of sums (level 1 too), what numerator and denominator grew by in each of several batches of the same
// length.
//
// What the kernel counts of memory between two readings is a quotient of sums, too (core/memory/memory_metric.h): it
// belongs to the batch in which the second reading was made.
//
// Batches tell by themselves how certain a value is: whatever disturbs it, the load's own changes included, makes
// batches differ, as long as it is over within a batch or two. So they are few and long (core/compare/difference.h).
// Memory is bounded: when there are too many batches, neighbours become one.

#include "core/memory/memory_metric.h"
#include "core/tally/snapshot.h"

enum {
    STRETCH_BATCHES_MAX = 64, // while it is taken in
    STRETCH_SOURCES_MAX = 64  // a core type, and kinds of boxes
};

enum stretch_scope { STRETCH_HOST, STRETCH_SOCKET, STRETCH_CPU };

// What a change of a metric means.
enum stretch_better {
    STRETCH_NEITHER,
    STRETCH_HIGHER_IS_BETTER,
    STRETCH_LOWER_IS_BETTER,
};

struct stretch_batch {
    double a, b; // numerator and denominator
};

enum { STRETCH_KERNEL = STRETCH_SOURCES_MAX }; // the source of what the kernel counts

struct stretch_series {
    size_t source;
    enum stretch_scope scope;
    unsigned id;      // the kernel's number of the socket or CPU
    char *name;       // the metric's, as exported
    char *units;      // that it is exported in
    char *definition; // of struct catalog_metric
    double k;         // the value is k a / b
    enum stretch_better better;
    bool outcome; // how much work was done: instructions a cycle, or the retiring share
    struct stretch_batch batches[STRETCH_BATCHES_MAX];
    // the place in the newest layout; SIZE_MAX: it does not have the metric
    size_t numerator, denominator;
    double a, b;  // totals of the last snapshot; NaN: none
    double boxes; // what a grew by is times this: the value of a traffic is that of all boxes of the scope; else 1
};

struct stretch {
    enum stretch_scope finest;
    struct stretch_series *series;
    size_t n, capacity;
    uint64_t batch_ns;                                    // length of a batch
    uint64_t begin_ns;                                    // of the first snapshot taken
    uint64_t end_ns;                                      // of the last
    uint64_t round_ns;                                    // the longest round of the plans
    size_t n_batches;                                     // begun; the last one may be short
    struct snapshot_layout *layouts[STRETCH_SOURCES_MAX]; // NULL: no snapshot yet
    struct host_memory *memory;                           // the newest reading; a reference. NULL: none
    bool begun;
};

// Keeps scopes down to `finest`. NULL if out of memory.
struct stretch *stretch_new(enum stretch_scope finest);
struct stretch *stretch_free(struct stretch *stretch); // returns NULL, takes NULL

// Takes snapshots in, in the order of their times: of source 0, the core type, and of the kinds of boxes beside it
// (core/uncore/uncore.h), whose hosts and sockets are compared. The core type's first one is where the stretch begins.
// A metric of another plan goes on under its name. Returns 0 or -ENOMEM.
int stretch_take(struct stretch *stretch, size_t source, const struct snapshot *snapshot);

// Ends the stretch: joins batches until they are at most `batches_max` and at least two rounds long, and drops a last
// one that is short.
void stretch_end(struct stretch *stretch, size_t batches_max);

// The series of the same scope and name; NULL: there is none.
const struct stretch_series *stretch_find(const struct stretch *stretch, const struct stretch_series *like);

#endif
