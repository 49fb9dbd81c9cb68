// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_JSON_JSON_VALUES_H
#define TOPDOWND_CONFIG_JSON_JSON_VALUES_H

// Reads the host's values from the page /api/v1/snapshot of a topdownd (docs/api.md).

#include <stddef.h>

// A metric of a core type, by its place among the types; NaN: null.
typedef void json_values_take(size_t type, const char *metric, double value, double low, double high, void *context);

// Returns the number of core types, or -EINVAL if this is no such page, or if nothing was measured yet.
int json_values_read(const char *text, size_t length, json_values_take *take, void *context);

#endif
