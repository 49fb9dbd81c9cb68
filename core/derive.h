// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DERIVE_H
#define TOPDOWND_CORE_DERIVE_H

// From the readings of a round to the values of a moment.
//
// Per CPU and unit: counts are scaled by enabled / running of their window (contention), summed over the round's
// windows and extrapolated from the time they cover to the time that has passed (schedule). Sums over CPUs come first,
// formulas last. Totals advance by the extrapolated counts, all to the end of the round, and never fall. A round
// without data is made up for by the next one with data, if that comes within DERIVE_ROUNDS_MAX rounds; longer gaps are
// uncovered time.

#include "core/snapshot.h"

enum { DERIVE_ROUNDS_MAX = 3 };

struct derive; // private: the totals

struct derive *derive_new(const struct snapshot_layout *layout); // NULL where memory is short; the layout is borrowed
struct derive *derive_free(struct derive *derive);

// Takes one round into the totals and fills `out`, which must be new; self values are left to the caller. Where memory
// for a snapshot was short, `out` is NULL, and the totals still advance.
void derive_round(struct derive *derive, const struct readings *readings, struct snapshot *out);

// Fills `out` with the totals as they are and no gauges: the snapshot before the first round.
void derive_initial(const struct derive *derive, struct snapshot *out);

#endif
