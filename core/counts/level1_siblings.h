// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_COUNTS_LEVEL1_SIBLINGS_H
#define TOPDOWND_CORE_COUNTS_LEVEL1_SIBLINGS_H

// Level-1 slots that SMT siblings lend one another.
//
// Where the spec halves the slots of the cycles in which both threads of a core are awake (Intel up to Cascade Lake), a
// thread that dispatches in more than its half uses more slots than it has. What is left for a category is then
// negative round after round, and so grows what the category owes (core/counts/level1.h). Its sibling has these slots:
// it had its half, and dispatched less. So once a category owes more than a round has, its sibling's slots of the same
// category make up for it. The core's categories are then the sums of what its threads counted, and a thread's slots
// are more or less than half. Elsewhere no category owes as much for long, and nothing is lent.

#include "core/counts/level1_cpus.h"

// `ended`, by CPU: its round has ended. Siblings' rounds end together. Call before level1_cpus_advance.
void level1_siblings_lend(struct level1_cpus *level1, const bool *ended);

#endif
