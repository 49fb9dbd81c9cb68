// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SELECTION_H
#define TOPDOWND_DAEMON_SOURCE_SELECTION_H

// Finds the metric groups that a profile names in this host's catalog.

#include "config/yaml/config.h"
#include "core/plan/plan.h"
#include "daemon/source/data.h"

// Checks that every group of every profile is in some spec; an unknown group is an error with a suggestion. Specs other
// than this host's are read only if it lacks a group. If the configuration names a vendor's files that have nothing for
// this host's CPU, a name may be one of theirs, so nothing is checked. A config_check whose context is a struct
// selection_specs. Returns 0 or -EINVAL.
enum { SELECTION_CATALOGS_MAX = 8 };
struct selection_specs {
    const struct catalog *catalogs[SELECTION_CATALOGS_MAX]; // of this host's core types
    size_t n;
    bool vendors; // some come from the vendor's files
    struct specs *others;
};
int selection_check(const struct config *config, const void *selection_specs, struct errors *errors);

// Selects the profile's groups that `catalog` has, each once and with the largest of its weights. "Defaults" stands for
// the groups that the spec recommends; if it recommends none, for stage_1, General, MPKI and Miss_Ratio. If it has none
// of them, a catalog from the vendor's files or one whose events take no counters (software) uses its first stage.
// *missing gets the names of the missing groups, comma-separated, "" if there are none; cut at size - 1. Returns the
// number of selections or -ENOMEM; the caller frees the array.
int selection_make(const struct config_profile *profile, const struct catalog *catalog, bool vendors,
                   struct plan_selection **out, char *missing, size_t size);

#endif
