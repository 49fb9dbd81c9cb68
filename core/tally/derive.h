// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_H
#define TOPDOWND_CORE_TALLY_DERIVE_H

// Turns the readings of a round into the values of a moment.
//
// Per CPU and unit, derive scales counts by enabled / running of their window (contention), sums them over the round's
// windows and extrapolates from the time they cover to the elapsed time (schedule). Sums over CPUs come first, formulas
// last. Totals advance by the extrapolated counts, all to the end of the round, and never fall. The next round with
// data also represents rounds without data, if it comes within DERIVE_ROUNDS_MAX rounds; longer gaps are uncovered
// time.
//
// If an event has never counted and its 0 is not true (core/counts/zeros.h), while another event of the same metric
// counts, the metric is stalled, has no value, and its totals stand still.
//
// A gauge's confidence interval is estimated only from this plan's rounds, because another plan draws other slots. So
// under a new plan gauges have no interval before the second round. Rounds with a pause, a gap or an offline CPU
// between them are not compared.

#include "core/tally/snapshot.h"

enum { DERIVE_ROUNDS_MAX = 3 };

struct derive; // private: the totals

struct derive *derive_new(struct snapshot_layout *layout); // NULL if out of memory; takes a reference
struct derive *derive_free(struct derive *derive);

// Takes over the totals of `old`, matching sockets, CPUs, metrics, events and event groups by name and number: its plan
// may have other metrics, and its catalog may be another one. Called once, on a new derive. Rounds without data that
// are still pending in `old` become uncovered time. What the new plan lacks is remembered in case a later plan has it.
// Returns 0 or -ENOMEM, after which the new derive can only be freed.
int derive_continue(struct derive *derive, const struct derive *old);

// Whether single CPUs have intervals from the next round on, as they have at first. They are most of the work on a
// large host. Values, totals, and the intervals of sockets and the host never change by it (estimate_want_cpus).
void derive_want_cpus(struct derive *derive, bool wanted);

// From the next round on, snapshots tell what many rounds come to together (snapshot->many).
void derive_tell_many(struct derive *derive);

// Adds one round to the totals and fills `out`, which must be new; times and status are left to the caller. If there
// was no memory for a snapshot, `out` is NULL, and the totals still advance.
void derive_round(struct derive *derive, const struct readings *readings, struct snapshot *out);

// Counts the time from the end of the last round until until_ns, a deliberate pause, as uncovered.
void derive_pause(struct derive *derive, uint64_t until_ns, enum uncovered reason);

// Fills `out` with the current totals and no gauges: the snapshot before the first round.
void derive_initial(const struct derive *derive, struct snapshot *out);

#endif
