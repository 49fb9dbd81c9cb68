// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_H
#define TOPDOWND_CORE_TALLY_DERIVE_H

// From the readings of a round to the values of a moment.
//
// Per CPU and unit: counts are scaled by enabled / running of their window (contention), summed over the round's
// windows and extrapolated from the time they cover to the time that has passed (schedule). Sums over CPUs come first,
// formulas last. Totals advance by the extrapolated counts, all to the end of the round, and never fall. A round
// without data is made up for by the next one with data, if that comes within DERIVE_ROUNDS_MAX rounds; longer gaps are
// uncovered time.
//
// An event that has never counted, though the PMU does not say that it can, is not believed as long as something else
// in the same metric counts: the metric is stalled, has no value, and its totals stand still.
//
// How far a gauge can be trusted is estimated from this plan's rounds alone: another plan draws other slots, so under a
// new one gauges have no interval before the second round. Rounds with a pause, a gap or an absent CPU between them are
// not compared.

#include "core/tally/snapshot.h"

enum { DERIVE_ROUNDS_MAX = 3 };

struct derive; // private: the totals

struct derive *derive_new(struct snapshot_layout *layout); // NULL where memory is short; takes a reference
struct derive *derive_free(struct derive *derive);

// Takes over what `old` has counted, matching sockets, CPUs, metrics, events and event groups by what they are: called
// once, on a new derive whose layout has the same catalog and the same metrics selected. What the old one was still
// waiting to make up for is uncovered time. Event groups that the new plan lacks are remembered, should a later one
// have them. Returns 0 or -ENOMEM, which leaves the new derive as it was.
int derive_continue(struct derive *derive, const struct derive *old);

// Takes one round into the totals and fills `out`, which must be new; self values are left to the caller. Where memory
// for a snapshot was short, `out` is NULL, and the totals still advance.
void derive_round(struct derive *derive, const struct readings *readings, struct snapshot *out);

// Nothing was measured from the end of the last round until until_ns, on purpose: uncovered time.
void derive_pause(struct derive *derive, uint64_t until_ns, enum uncovered reason);

// Fills `out` with the totals as they are and no gauges: the snapshot before the first round.
void derive_initial(const struct derive *derive, struct snapshot *out);

#endif
