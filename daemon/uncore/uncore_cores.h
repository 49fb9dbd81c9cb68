// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_CORES_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_CORES_H

// What the cores counted, for metrics of boxes per instruction: the totals of the newest snapshot of each core type.

#include "collectors/uncore/pmu_joined.h"
#include "daemon/source/setup.h"

// struct pmu_joined_cores: `context` is a const struct shown of all engines, or NULL.
bool uncore_cores_read(const void *context, int package, const struct pmu_event *event, struct pmu_joined_total *out);

// Why the set-up's core types cannot tell an event of all cores of a socket, with the remedy; NULL: they can. Writes
// to `text`.
enum { UNCORE_CORES_TEXT_MAX = 320 };
const char *uncore_cores_obstacle(const struct setup *setup, const char *event, char text[UNCORE_CORES_TEXT_MAX]);

#endif
