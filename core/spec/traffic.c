// SPDX-License-Identifier: Apache-2.0
#include "core/spec/traffic.h"

#include <string.h>

const struct traffic_info traffic_table[TRAFFIC_N] = {
    [TRAFFIC_MEMORY_READ] = {"memory_read", FAMILY_MEMORY_BYTES, "direction", "read", "dram"},
    [TRAFFIC_MEMORY_WRITE] = {"memory_write", FAMILY_MEMORY_BYTES, "direction", "write", "dram"},
    [TRAFFIC_MEMORY_ALL] = {"memory_all", FAMILY_MEMORY_BYTES, "direction", "all", "dram"},
    [TRAFFIC_HBM_READ] = {"hbm_read", FAMILY_MEMORY_BYTES, "direction", "read", "hbm"},
    [TRAFFIC_HBM_WRITE] = {"hbm_write", FAMILY_MEMORY_BYTES, "direction", "write", "hbm"},
    [TRAFFIC_PERSISTENT_READ] = {"persistent_read", FAMILY_MEMORY_BYTES, "direction", "read", "persistent"},
    [TRAFFIC_PERSISTENT_WRITE] = {"persistent_write", FAMILY_MEMORY_BYTES, "direction", "write", "persistent"},
    [TRAFFIC_CXL_READ] = {"cxl_read", FAMILY_MEMORY_BYTES, "direction", "read", "cxl"},
    [TRAFFIC_CXL_WRITE] = {"cxl_write", FAMILY_MEMORY_BYTES, "direction", "write", "cxl"},
    [TRAFFIC_MEMORY_PEAK] = {"memory_peak", FAMILY_MEMORY_PEAK, NULL, NULL, NULL},
    [TRAFFIC_LLC_MISS_LOCAL] = {"llc_miss_local", FAMILY_LLC_MISS_BYTES, "home", "local", NULL},
    [TRAFFIC_LLC_MISS_REMOTE] = {"llc_miss_remote", FAMILY_LLC_MISS_BYTES, "home", "remote", NULL},
    [TRAFFIC_INTERCONNECT_IN] = {"interconnect_in", FAMILY_INTERCONNECT_BYTES, "direction", "in", NULL},
    [TRAFFIC_INTERCONNECT_OUT] = {"interconnect_out", FAMILY_INTERCONNECT_BYTES, "direction", "out", NULL},
    [TRAFFIC_IO_IN] = {"io_in", FAMILY_IO_BYTES, "direction", "in", "pcie"},
    [TRAFFIC_IO_OUT] = {"io_out", FAMILY_IO_BYTES, "direction", "out", "pcie"},
    [TRAFFIC_C2C_IN] = {"c2c_in", FAMILY_IO_BYTES, "direction", "in", "c2c"},
    [TRAFFIC_C2C_OUT] = {"c2c_out", FAMILY_IO_BYTES, "direction", "out", "c2c"},
};

const char TRAFFIC_FETCHED[] = "fetched_by_socket", TRAFFIC_REQUESTED[] = "requested_of_socket";

bool traffic_is_requested(const char *definition) { return strcmp(definition, TRAFFIC_REQUESTED) == 0; }

enum traffic traffic_find(const char *name) {
    for (int i = TRAFFIC_NONE + 1; i < TRAFFIC_N; i++)
        if (strcmp(traffic_table[i].name, name) == 0)
            return (enum traffic)i;
    return TRAFFIC_NONE;
}

bool traffic_passes(enum traffic traffic) { return traffic != TRAFFIC_NONE && traffic != TRAFFIC_MEMORY_PEAK; }
