// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_DIAGNOSIS_H
#define TOPDOWND_CORE_DIAGNOSIS_DIAGNOSIS_H

// The diagnosis remembers from round to round since when each scope has had its bottleneck, and which nodes of the
// decision tree stay high.
//
// It fills in the verdicts of each snapshot (core/tally/verdict.h). core/diagnosis/bound.h and judge.h judge a round's
// values without memory, so that a verdict and the numbers beside it always agree. Two answers take several rounds:
//
// - Since when the last node of the path (or nothing high) has been the verdict on the host or a socket. A verdict
//   begins with its first round and ends once another one has lasted for DIAGNOSIS_ROUNDS_HIGH rounds, so that a noisy
//   round does not restart it. Rounds without a verdict settle nothing. After DIAGNOSIS_FORGET_NS without one it is
//   unknown whether the verdict lasted, and the next one starts anew. The first verdict then, and the first one of the
//   process, may be older than its first round: it holds at least since then.
// - Whether a node stays high on the host. It does from DIAGNOSIS_ROUNDS_HIGH high rounds in a row until
//   DIAGNOSIS_ROUNDS_LOW rounds in a row in which it is low even with values multiplied by 1/DIAGNOSIS_LOW_SHARE or by
//   DIAGNOSIS_LOW_SHARE. Rounds in which the answer depends on missing values are skipped.
//
// No clock: snapshots carry the time, so that a replay gives the same answers.

#include <stdbool.h>
#include <stdint.h>

#include "core/diagnosis/kept_verdicts.h"
#include "core/diagnosis/tree.h"
#include "core/tally/snapshot.h"

enum {
    DIAGNOSIS_ROUNDS_HIGH = 3, // one burst or one noisy round is not enough
    DIAGNOSIS_ROUNDS_LOW = 10  // a load that pauses usually comes back
};
#define DIAGNOSIS_LOW_SHARE 0.8 // a round's noise stays within
#define DIAGNOSIS_FORGET_NS UINT64_C(60000000000)
// For how long nobody may watch while topdownd is restarted or upgraded: a verdict that is the same afterwards goes on.
#define DIAGNOSIS_KEEP_NS UINT64_C(600000000000)

struct diagnosis; // private

// Creates the diagnosis for one plan, without memories. Takes a reference. NULL if out of memory.
struct diagnosis *diagnosis_new(struct snapshot_layout *layout);
struct diagnosis *diagnosis_free(struct diagnosis *diagnosis); // returns NULL, takes NULL

// Takes over what `old` remembers, from another plan or another version of the spec. Sockets are matched by id, metrics
// by name.
void diagnosis_continue(struct diagnosis *diagnosis, const struct diagnosis *old);

// Appends the lasting verdicts of the host and its sockets, as far as there is room, as those of core type `type`.
void diagnosis_keep(const struct diagnosis *diagnosis, const char *type, struct kept_verdicts *out);

// Goes on with what diagnosis_keep of an earlier process of the same boot wrote, as far as nobody watched for at most
// DIAGNOSIS_KEEP_NS before this snapshot, the first one, which diagnosis_round takes next. That time counts as not
// watched. What is known already, and what is not of the past, stays as it is.
void diagnosis_restore(struct diagnosis *diagnosis, const char *type, const struct kept_verdicts *kept,
                       const struct snapshot *snapshot);

// Takes a snapshot, complete with its timestamp, and fills in its verdicts, also among its values. One made within a
// round settles nothing.
void diagnosis_round(struct diagnosis *diagnosis, struct snapshot *snapshot);

// Fills in the verdicts of a snapshot that is of no round, such as the first one of a plan, and remembers nothing.
void diagnosis_look(struct diagnosis *diagnosis, struct snapshot *snapshot);

// True if the metric, a node with successors in the catalog's decision tree, stays high on the host. False for all
// others.
bool diagnosis_high(const struct diagnosis *diagnosis, unsigned metric);

// The last exported value by which it was judged; NaN: none.
double diagnosis_value(const struct diagnosis *diagnosis, unsigned metric);

#endif
