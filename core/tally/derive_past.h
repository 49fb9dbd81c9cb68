// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_TALLY_DERIVE_PAST_H
#define TOPDOWND_CORE_TALLY_DERIVE_PAST_H

// Totals from one plan to another, whose metrics, events, categories, sockets and CPUs may be others: they are matched
// by name and number. What the new plan lacks is kept in case a later plan has it again, because a counter must not
// fall when a configuration comes back.

#include "core/counts/totals.h"
#include "core/tally/snapshot.h"

// Which of another layout's metrics, events and categories is the same as each of this layout's; -1: none.
struct derive_match {
    int *metrics, *events, *categories;
};

// Returns 0 or -ENOMEM.
int derive_match_init(struct derive_match *match, const struct snapshot_layout *to, const struct snapshot_layout *from);
void derive_match_deinit(struct derive_match *match);

// The index of the socket of this id; -1: none.
int derive_match_socket(const struct topology *topology, unsigned id);

// The totals of one plan.
struct derive_totals {
    struct snapshot_layout *layout;
    struct scopes *scopes;
    struct totals *totals;
};

// Copies the totals that both plans have.
void derive_totals_copy(struct derive_totals *to, const struct derive_totals *from, const struct derive_match *match);

enum { DERIVE_PAST_MAX = 8 }; // of more, the oldest is forgotten

// What earlier plans had and the present one lacks, oldest first.
struct derive_past {
    struct derive_totals kept[DERIVE_PAST_MAX];
    size_t n;
};

// Fills the totals of a plan from those that earlier plans left behind and from those of the plan before it, and keeps
// of both what it lacks. `past` must be empty. Returns 0 or -ENOMEM.
int derive_past_continue(struct derive_past *past, struct derive_totals *to, const struct derive_past *before,
                         const struct derive_totals *from);
void derive_past_deinit(struct derive_past *past);

#endif
