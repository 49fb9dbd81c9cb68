// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_GROUPS_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_GROUPS_H

// Which metric groups of a kind are measured: those that its spec recommends where the configuration has the kind's
// word (memory, remote, llc, interconnect), and those that the configuration names.

#include "core/plan/plan.h"
#include "daemon/source/setup.h"

// Selects the groups of a kind's catalog. `recommended`: the spec's own recommendation is wanted. Returns their number,
// 0 if the configuration wants none; -ENOMEM. A group that is named is left out if a kind before, such as our own
// spec's before a vendor's file, measures one of its metrics: it is told once. The caller frees the array.
int uncore_groups_select(const struct setup *setup, const struct catalog *catalog, bool recommended,
                         struct plan_selection **out);

// Reports names in the configuration that no kind of any host has, and where they belong if they are metric groups of
// cores. With a vendor's files a name may be one of another host's. Returns 0, -EINVAL with the mistakes in `errors`,
// -ENOMEM.
int uncore_groups_check(struct setup *setup, struct errors *errors);

#endif
