// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_BOUNDS_H
#define TOPDOWND_CORE_TALLY_DERIVE_BOUNDS_H

// Totals of bounds (core/spec/opportunity.h): the pipeline slots that each action could have won at most, of each
// socket and of the host, which has the sum of its sockets. They are the numerator totals of these metrics.
//
// A bound is made of values of several event groups, so it is no quotient of two totals. Whenever it has a value, it
// takes that share of all pipeline slots that the socket's total grew by since it last had one. So over any time its
// total grows by a mean of its values, weighted with the slots. Slots of a time longer than the limit, in which it had
// none, are given up: nothing is invented for a bound that could not be measured.

#include "core/counts/totals.h"
#include "core/tally/snapshot.h"

struct derive_bounds {
    const struct snapshot_layout *layout; // borrowed
    size_t n;                             // bounds
    unsigned *metrics;                    // [bound]: of the plan
    double *slots;                        // [socket]: total of all pipeline slots when it was last looked at
    struct derive_pending {
        double slots, seconds; // since the bound last had a value
    } * pending;               // [socket][bound]
    uint64_t end_ns;           // of the snapshot before; 0: there was none
};

// `layout` must outlive it. NULL if out of memory.
struct derive_bounds *derive_bounds_new(const struct snapshot_layout *layout);
struct derive_bounds *derive_bounds_free(struct derive_bounds *bounds);

// Begins with slots that earlier plans have counted: they are not of these bounds.
void derive_bounds_begin(struct derive_bounds *bounds, const struct totals *totals);

// Takes a snapshot with gauges that ends at `end_ns`, adds to `totals`, and writes the snapshot's.
void derive_bounds_take(struct derive_bounds *bounds, struct totals *totals, struct snapshot *out, uint64_t end_ns,
                        double limit_seconds);

// Writes the totals as they are. A bound that has no total yet, and that this plan cannot measure, has none.
void derive_bounds_write(const struct derive_bounds *bounds, const struct totals *totals, struct snapshot *out);

#endif
