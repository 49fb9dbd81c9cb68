// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_setup.h"

#include <errno.h>
#include <string.h>

#include "daemon/uncore/uncore_chosen.h"
#include "daemon/uncore/uncore_groups.h"
#include "daemon/uncore/uncore_host.h"
#include "daemon/uncore/uncore_linux.h"
#include "daemon/uncore/uncore_replay.h"
#include "daemon/uncore/uncore_sim.h"
#include "daemon/uncore/uncore_source.h"
#include "daemon/uncore/uncore_vendor.h"

int uncore_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    if (options->pmu == PMU_REPLAY)
        return uncore_replay_setup(setup, options, errors);
    if (setup->config->uncore.off)
        return 0;
    bool sim = options->pmu == PMU_SIM;
    int r = sim ? uncore_sim_setup(setup, options, errors) : uncore_host_setup(setup, options, errors);
    if (r == 0 && options->pmu != PMU_SIM)
        r = uncore_vendor_setup(setup, options);
    int checked = r == 0 ? uncore_groups_check(setup, errors) : 0;
    int chosen = r == 0 || r == -EINVAL ? uncore_chosen_setup(setup, options, errors) : 0;
    return r < 0 ? r : checked < 0 ? checked : chosen;
}

static int renew_topology(struct core_type *type) {
    const struct topology *before = type->topology;
    struct topology *boxes;
    int r = uncore_topology(&((const struct uncore_linux *)type->source)->boxes, &boxes);
    if (r < 0)
        return r;
    for (size_t s = 0; s < boxes->n_sockets; s++)
        for (size_t i = 0; i < before->n_sockets; i++)
            if (before->sockets[i].id == boxes->sockets[s].id) {
                boxes->sockets[s].memory_bytes_per_second = before->sockets[i].memory_bytes_per_second;
                boxes->sockets[s].peak = before->sockets[i].peak;
            }
    topology_free(type->topology);
    type->topology = boxes;
    return 0;
}

int uncore_continue(struct setup *setup, const struct setup *before) {
    int r = 0;
    for (size_t i = setup->n_types; i < setup->n_types + setup->n_boxes && r >= 0; i++)
        for (size_t k = before->n_types; k < before->n_types + before->n_boxes && r >= 0; k++) {
            struct core_type *type = &setup->types[i];
            if (strcmp(type->source->pmu_name, before->types[k].source->pmu_name) != 0)
                continue;
            r = uncore_linux_continue(type->source, before->types[k].source, &setup->config->uncore);
            if (r > 0)
                r = renew_topology(type);
        }
    return r < 0 ? r : 0;
}
