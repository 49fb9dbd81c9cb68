// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CORE_DIAGNOSIS_BOUND_H
#define TOPDOWND_CORE_DIAGNOSIS_BOUND_H

// Finds a scope's bottleneck: the largest high root, then the largest high node below it, and so on. If no root is
// high, only the largest root. If there are level-1 categories, only they are candidate roots. A node that includes
// another candidate (struct catalog_metric.included_in) is compared by what it counts beside it.

#include "core/diagnosis/tree.h"

// For the scope in which the tree was last evaluated. Since when is not known.
struct verdict bound_find(const struct tree *tree);

// Fills in the verdicts of the host and the sockets, and what is beside them, of a snapshot that no diagnosis takes.
// Since when, and what lasts, stay as they are. Returns 0 or -ENOMEM.
int bound_fill(struct snapshot *snapshot);

// True if two sockets are bound by different metrics, neither of them below the other, and if the 95 % intervals tell
// the sockets apart in one of these metrics. A mean over sockets that do different work describes neither.
bool bound_sockets_differ(const struct snapshot *snapshot);

#endif
