// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_CONFIG_JSON_JSON_VALUES_H
#define TOPDOWND_CONFIG_JSON_JSON_VALUES_H

// Reads values from the page /api/v1/snapshot of a topdownd (docs/api.md): those of the host, or with ?scope=socket
// those of its sockets.

#include <stddef.h>

// A metric of a core type, by its place among the types. `socket` is the kernel's number, JSON_VALUES_HOST that of the
// host. start_ns and end_ns are of when the type's values are, by the monotonic clock of its host. NaN: null.
enum { JSON_VALUES_HOST = -1 };
struct json_value {
    size_t type;
    long socket;
    const char *metric;
    const char *quality_reason; // NULL: its quality is not poor, or the page does not say why
    double value, low, high, share_of_time;
    double start_ns, end_ns;
};
typedef void json_values_take(const struct json_value *value, void *context);

// Returns the number of core types, or -EINVAL if this is no such page, or if nothing was measured yet.
int json_values_read(const char *text, size_t length, json_values_take *take, void *context);

#endif
