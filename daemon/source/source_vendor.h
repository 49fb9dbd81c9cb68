// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_VENDOR_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_VENDOR_H

// Builds a catalog from the files that the configuration names instead of the shipped specs: a vendor's, or the user's
// own.

#include "config/yaml/config.h"
#include "core/host/identify.h"
#include "core/spec/catalog_builder.h"

struct vendor_request {
    const struct config_specs *specs; // with a path
    const char *data;                 // folder of specs/perf/trees.json and specs/arm/defaults.json
    const char *cpuid;                // in perf's form; "": not known
    const char *pmu;                  // the core PMU's name on a host with two core types; NULL: the files decide
    const struct environment *environment;
    bool all_events;   // false: in the perf format, only those that metrics use
    bool all_warnings; // show all invalid entries; false: a few
};

// The result is to be bound to a host before it is finished. Invalid entries are logged. Returns 0; 1 if there is
// nothing for this CPU, with the reason in *reason; -EINVAL with the mistakes in `errors`, at the place of `specs:`;
// -ENOMEM.
int source_vendor_read(const struct vendor_request *request, struct errors *errors, char *reason, size_t reason_size,
                       struct catalog_builder **out);

// A CPU of the spec, in perf's form; "" if the map has none.
void source_vendor_cpuid(const struct cpu_map *cpus, const char *spec, char *out, size_t size);

#endif
