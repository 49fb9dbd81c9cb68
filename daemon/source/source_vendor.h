// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_VENDOR_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_VENDOR_H

// A catalog of the files that the configuration names in the place of our own specs: a vendor's, or the user's own.

#include "config/yaml/config.h"
#include "core/host/identify.h"
#include "core/spec/catalog_builder.h"

struct vendor_request {
    const struct config_specs *specs; // with a path
    const char *data;                 // folder of specs/perf/trees.json and specs/arm/defaults.json
    const char *cpuid;                // as perf writes it; "": not known
    const char *pmu;                  // of a host with cores of two kinds, the core PMU's name; NULL: by the files
    const struct environment *environment;
    bool all_events;   // else those of the perf format that metrics use
    bool all_warnings; // of entries that are wrong; else a few
};

// To be bound to a host before it is finished. What is wrong with single entries is logged. Returns 0; 1 where there is
// nothing for this CPU, with the reason in *reason; -EINVAL with what is wrong in `errors`, where `specs:` stands;
// -ENOMEM.
int source_vendor_read(const struct vendor_request *request, struct errors *errors, char *reason, size_t reason_size,
                       struct catalog_builder **out);

// A CPU that the spec is for, as perf writes it; "" where the map does not say.
void source_vendor_cpuid(const struct cpu_map *cpus, const char *spec, char *out, size_t size);

#endif
