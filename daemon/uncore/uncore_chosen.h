// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_UNCORE_UNCORE_CHOSEN_H
#define TOPDOWND_DAEMON_UNCORE_UNCORE_CHOSEN_H

// PMUs that no spec knows, chosen with `uncore.pmus` of the configuration: the kernel's names of their events, with
// their units, take the place of a spec.

#include "core/recording/recording.h"
#include "daemon/source/setup.h"

// Adds a source for each entry that this host has; the set-up's first source notes those that it lacks. Returns 0,
// -EINVAL with the mistakes in `errors`, -ENOMEM.
int uncore_chosen_setup(struct setup *setup, const struct options *options, struct errors *errors);

// The kind's name of an entry, which is the label `pmu`: the pattern up to its first wildcard.
void uncore_chosen_name(const char *pattern, char *out, size_t size);

// Reads events of a PMU into a catalog, in which each has a metric of its own: NULL if an event is not usable. Returns
// 0, or -ENOMEM.
int uncore_chosen_catalog(const struct host_roots *roots, const char *pmu, const char *const *events, size_t n,
                          struct catalog **out);

// The same from what a recording says of them; -EINVAL if it makes no sense. Nothing is encoded.
int uncore_chosen_recorded(const char *pmu, const struct recording_definition *definition, struct catalog **out);

#endif
