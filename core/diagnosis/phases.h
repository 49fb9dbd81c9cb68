// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_PHASES_H
#define TOPDOWND_CORE_DIAGNOSIS_PHASES_H

// What a host was bound by in the last fifteen minutes, by roots of the tree: one that swings has no mean that
// describes it, and what is different now says little without what is usual.
//
// A spell ends when another root is larger by PHASES_LARGER, or, where nothing is high afterwards or before, when the
// root's threshold says so by DIAGNOSIS_LOW_SHARE. Noise around a threshold begins none. The last PHASES_SPELLS spells
// are remembered. Time without a verdict belongs to no spell: a spell goes on after it, without it, as long as it is
// at most DIAGNOSIS_FORGET_NS; after more, another one begins, be it of the same root.

#include <stdbool.h>
#include <stdint.h>

#include "core/diagnosis/tree.h"

#define PHASES_NS UINT64_C(900000000000)
#define PHASES_LARGER 0.1 // of slots or cycles
#define PHASES_SWINGS 0.2 // share of the time of the second most frequent root, from which on
enum { PHASES_SPELLS = 64, PHASES_CHANGES = 4 };

struct phases {
    struct phases_spell {
        int metric; // root, in the catalog; VERDICT_NOTHING_HIGH
        uint64_t begun_ns, ended_ns;
        bool resumed; // after a short time without a verdict the one before goes on
    } spells[PHASES_SPELLS];
    size_t n, newest;    // remembered; index of the last one
    uint64_t watched_ns; // until when there was a verdict all the time since the newest one began
};

// Notes that a snapshot within a round has a verdict, so that the time until the round ends is not unknown.
void phases_watch(struct phases *phases, const struct verdict *verdict, uint64_t start_ns, uint64_t end_ns);

// Takes the verdict of a round that ends at `end_ns`, of the scope in which the tree was last evaluated. `start_ns` is
// when the snapshot before it was made.
void phases_take(struct phases *phases, struct tree *tree, const struct verdict *verdict, uint64_t start_ns,
                 uint64_t end_ns);

// What was usual, and what is now.
struct verdict_phases phases_tell(const struct phases *phases);

#endif
