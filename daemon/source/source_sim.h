// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_SIM_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_SIM_H

// A simulated host: a source for each core type of a scenario.

#include "core/host/scenario.h"
#include "daemon/source/source.h"

struct source_sim {
    struct source source; // first
    struct scenario *scenario;
    char path[DATA_PATH_MAX + 64];
};

int source_sim_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                    size_t *n);

#endif
