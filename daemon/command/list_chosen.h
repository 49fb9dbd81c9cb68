// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_CHOSEN_H
#define TOPDOWND_DAEMON_COMMAND_LIST_CHOSEN_H

// The rows of `list pmus` for PMUs of this host that no spec knows: their events, as `uncore.pmus` can choose them.

#include "collectors/uncore/uncore_find.h"
#include "exporters/text/table.h"

// PMUs of `known` are left out, and those that count for CPUs or tasks. Returns 0 or -ENOMEM.
int list_chosen(const struct host_roots *roots, const struct uncore_host *known, struct table *table);

#endif
