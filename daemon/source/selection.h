// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SELECTION_H
#define TOPDOWND_DAEMON_SOURCE_SELECTION_H

// From the metric groups that a profile names to those of this host's catalog.

#include "config/yaml/config.h"
#include "core/plan/plan.h"
#include "daemon/source/data.h"

// Every group of every profile must be in some spec: what is in none is an error with a suggestion. Other specs than
// this host's are only read where it lacks a group. Where the configuration names a vendor's files that have nothing
// for this host's CPU, a name may be one of theirs, and nothing is checked. A config_check whose context is a struct
// selection_specs. Returns 0 or -EINVAL.
enum { SELECTION_CATALOGS_MAX = 8 };
struct selection_specs {
    const struct catalog *catalogs[SELECTION_CATALOGS_MAX]; // of this host's types of cores
    size_t n;
    bool vendors; // some are of the vendor's files
    struct specs *others;
};
int selection_check(const struct config *config, const void *selection_specs, struct errors *errors);

// The profile's groups as far as `catalog` has them; for a catalog whose events take no counters (software), or of the
// vendor's files, its first stage where it has none of them. *missing gets the names of the others, comma-separated, ""
// where there are none; cut at size - 1. Returns the number of selections or -ENOMEM; the array is the caller's to
// free.
int selection_make(const struct config_profile *profile, const struct catalog *catalog, bool vendors,
                   struct plan_selection **out, char *missing, size_t size);

#endif
