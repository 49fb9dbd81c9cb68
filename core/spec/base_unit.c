// SPDX-License-Identifier: Apache-2.0
#include "core/spec/base_unit.h"

#include <stddef.h>
#include <string.h>

static const struct base_unit UNITS[] = {
    {"GHz", "hertz", "_hertz", 1e9},
    {"MHz", "hertz", "_hertz", 1e6},
    {"GB per second", "bytes per second", "_bytes_per_second", 1e9},
    {"GB/s", "bytes per second", "_bytes_per_second", 1e9},
    {"MB/s", "bytes per second", "_bytes_per_second", 1e6},
    {"GFLOP per second", "operations per second", "_operations_per_second", 1e9},
    {"ns", "seconds", "_seconds", 1e-9},
    {"MiB", "bytes", "_bytes", 1048576},
    {"MB", "bytes", "_bytes", 1e6},
};

const struct base_unit *base_unit_find(const char *unit) {
    for (size_t i = 0; i < sizeof UNITS / sizeof *UNITS; i++)
        if (strcmp(UNITS[i].unit, unit) == 0)
            return &UNITS[i];
    return NULL;
}

const char *base_unit_whole(const char *unit) {
    static const char *const shares[] = {"ratio", "share"};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        size_t length = strlen(shares[i]);
        if (strncmp(unit, shares[i], length) == 0 && strncmp(unit + length, " of ", 4) == 0)
            return unit + length + 1;
    }
    return strcmp(unit, shares[0]) == 0 ? unit + strlen(unit) : NULL;
}
