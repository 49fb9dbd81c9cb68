// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_COMMAND_LIST_PMUS_H
#define TOPDOWND_DAEMON_COMMAND_LIST_PMUS_H

// The lists of the PMUs outside the cores: their kinds with events and encodings, and the boxes of this host.

#include "collectors/host/host_linux.h"
#include "config/yaml/config.h"
#include "core/base/error.h"
#include "core/host/identify.h"
#include "core/host/scenario.h"
#include "exporters/text/table.h"

enum { LIST_PMU_COLUMNS = 15, LIST_BOX_COLUMNS = 8 };
extern const struct table_column list_pmu_columns[LIST_PMU_COLUMNS];
extern const struct table_column list_box_columns[LIST_BOX_COLUMNS];

// Whose kinds: those of CPUs with one of these specs, or of a host's CPUs, whatever is measured of them. `folder` holds
// the shipped specs. Without roots there is no host, and events have the encodings of the spec. A simulated host has
// the kinds and boxes of its scenario instead.
struct list_pmus {
    const char *folder;
    const struct host_roots *roots;
    const struct scenario *simulated;   // NULL: none
    const struct config_uncore *config; // which boxes are left out; NULL: none
    const struct cpu_map *cpus;
    const char *const *specs; // not of a host
    size_t n;
};

// One row for each event of each kind; one for each box, and each PMU that cannot be opened. Return 0, -EINVAL with the
// mistakes in `errors`, -ENOMEM.
int list_pmus(const struct list_pmus *list, struct errors *errors, struct table *table);
int list_boxes(const struct list_pmus *list, struct errors *errors, struct table *table);

#endif
