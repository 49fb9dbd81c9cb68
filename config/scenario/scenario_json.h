// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_SCENARIO_SCENARIO_JSON_H
#define TOPDOWND_CONFIG_SCENARIO_SCENARIO_JSON_H

// Reads a scenario file: docs/scenarios.md.

#include "core/base/error.h"
#include "core/host/scenario.h"

// Returns 0, -EINVAL with the mistakes in `errors`, -ENOMEM.
int scenario_json_load(const char *path, struct errors *errors, struct scenario **out);
int scenario_json_parse(const char *name, const char *text, size_t length, struct errors *errors,
                        struct scenario **out);

#endif
