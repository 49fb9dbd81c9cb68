// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_KNOWN_CPUS_JSON_H
#define TOPDOWND_CONFIG_KNOWN_CPUS_JSON_H

// Reads cpus.json as it is, for people who ask which CPUs are known: which spec, what identifies its CPUs, and what
// else they are called. Which spec a CPU gets is decided elsewhere.

#include <stddef.h>

#include "core/error.h"

struct known_cpu {
    const char *spec;
    const char **midrs, **cpuids, **known_as;
    size_t n_midrs, n_cpuids, n_known_as;
    const char *generic; // PMU of the CPUs that no other spec is for; NULL: not generic
    const char *vendor;  // of these; NULL: any
};

struct known_cpus {
    struct cJSON *document; // holds the texts
    struct known_cpu *cpus;
    size_t n;
};

// Returns 0, -EINVAL with what is wrong in `errors`, -ENOMEM.
int known_cpus_json_load(const char *path, struct errors *errors, struct known_cpus *out);
void known_cpus_deinit(struct known_cpus *known);

#endif
