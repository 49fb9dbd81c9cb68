// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_DIAGNOSIS_H
#define TOPDOWND_CORE_DIAGNOSIS_DIAGNOSIS_H

// What the diagnosis remembers from round to round: since when a scope is bound by what it is bound by, and which nodes
// of the decision tree stay high.
//
// What a round's values say is judged by core/diagnosis/bound.h and judge.h, without memory, so that a verdict and the
// numbers beside it always agree. Two things take longer:
//
// - since when the host and each socket are bound by the last node of the path (or by nothing that stands out): a
//   verdict begins with its first round and has ended when another one has lasted for DIAGNOSIS_ROUNDS_HIGH rounds, so
//   that a noisy round does not begin it anew. Rounds without a verdict settle nothing; after DIAGNOSIS_FORGET_NS
//   without one nobody knows whether it lasted, and the next one begins anew.
// - whether a node of the host stays high, for whoever acts on it: it does once it has been high for
//   DIAGNOSIS_ROUNDS_HIGH rounds in a row, and until it has been low for DIAGNOSIS_ROUNDS_LOW rounds in a row with
//   values that are 1/DIAGNOSIS_LOW_SHARE or DIAGNOSIS_LOW_SHARE times as large, too. A round in which missing values
//   decide is as if it had not been.
//
// No clock: snapshots bring the time, so that a replay says the same.

#include <stdbool.h>
#include <stdint.h>

#include "core/tally/snapshot.h"

enum {
    DIAGNOSIS_ROUNDS_HIGH = 3, // one burst or one noisy round is no reason
    DIAGNOSIS_ROUNDS_LOW = 10  // a load that pauses comes back more often than not
};
#define DIAGNOSIS_LOW_SHARE 0.8 // noise of a round stays within
#define DIAGNOSIS_FORGET_NS UINT64_C(60000000000)

struct diagnosis; // private

// Of one plan, with nothing remembered. Takes a reference. NULL where memory is short.
struct diagnosis *diagnosis_new(struct snapshot_layout *layout);
struct diagnosis *diagnosis_free(struct diagnosis *diagnosis); // returns NULL, takes NULL

// Takes over what `old` remembers, under another plan of the same catalog. Sockets are matched by what they are.
void diagnosis_continue(struct diagnosis *diagnosis, const struct diagnosis *old);

// Takes the snapshot of a round, complete with its timestamp, and fills in snapshot_bound_since.
void diagnosis_round(struct diagnosis *diagnosis, struct snapshot *snapshot);

// Of the metrics that the catalog's decision tree leads on from: whether it stays high on the host. False for all
// others.
bool diagnosis_high(const struct diagnosis *diagnosis, unsigned metric);

// The last value, as exported, that it was judged by; NaN: there was none.
double diagnosis_value(const struct diagnosis *diagnosis, unsigned metric);

#endif
