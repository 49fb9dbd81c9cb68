// SPDX-License-Identifier: Apache-2.0
#include "core/spec/traffic.h"

#include <string.h>

const struct traffic_info traffic_table[TRAFFIC_N] = {
    [TRAFFIC_MEMORY_READ] = {"memory_read", "direction", "read"},
    [TRAFFIC_MEMORY_WRITE] = {"memory_write", "direction", "write"},
    [TRAFFIC_MEMORY_ALL] = {"memory_all", "direction", "all"},
    [TRAFFIC_LLC_MISS_LOCAL] = {"llc_miss_local", "home", "local"},
    [TRAFFIC_LLC_MISS_REMOTE] = {"llc_miss_remote", "home", "remote"},
    [TRAFFIC_INTERCONNECT_IN] = {"interconnect_in", "direction", "in"},
    [TRAFFIC_INTERCONNECT_OUT] = {"interconnect_out", "direction", "out"},
};

enum traffic traffic_find(const char *name) {
    for (int i = TRAFFIC_NONE + 1; i < TRAFFIC_N; i++)
        if (strcmp(traffic_table[i].name, name) == 0)
            return (enum traffic)i;
    return TRAFFIC_NONE;
}
