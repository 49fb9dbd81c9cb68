// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SPEC_CPU_MAP_JSON_H
#define TOPDOWND_CONFIG_SPEC_CPU_MAP_JSON_H

// Reads specs/cpus.json, which maps CPUs to specs: docs/specs.md, "Which spec is for which CPU".

#include "core/base/error.h"
#include "core/host/identify.h"

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM. Free *out with cpu_map_deinit; it is untouched on failure.
int cpu_map_json_load(const char *path, struct errors *errors, struct cpu_map *out);
int cpu_map_json_parse(const char *name, const char *text, size_t length, struct errors *errors, struct cpu_map *out);

#endif
