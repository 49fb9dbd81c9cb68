// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_DAEMON_SOURCE_SOURCE_SIM_H
#define TOPDOWND_DAEMON_SOURCE_SOURCE_SIM_H

// A simulated host: a source for each core type of a scenario.

#include "core/host/scenario.h"
#include "daemon/source/source.h"

// A core type, or a kind of boxes (daemon/uncore/uncore_sim.h).
struct source_sim {
    struct source source; // first
    struct scenario *scenario;
    char path[DATA_PATH_MAX + 64]; // of its file
    const char *folder;            // where its spec is, below specs/: "", or "uncore/"
};

// What the drivers of both do; the caller exchanges what the sources have of their scenarios.
int source_sim_pmu(const struct source *source, uint64_t now_ns, struct errors *errors, struct pmu **out);
void source_sim_exchange(struct source *a, struct source *b); // the simulated hosts run on, whatever their files say
void source_sim_deinit(struct source *source);

int source_sim_find(const struct source_request *request, struct errors *errors, struct source *out[SOURCE_TYPES_MAX],
                    size_t *n);

#endif
