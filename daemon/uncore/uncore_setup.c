// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_setup.h"

#include <errno.h>

#include "daemon/uncore/uncore_chosen.h"
#include "daemon/uncore/uncore_groups.h"
#include "daemon/uncore/uncore_source.h"

int uncore_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    if (options->pmu == PMU_REPLAY)
        return uncore_replay_setup(setup, options, errors);
    if (setup->config->uncore.off)
        return 0;
    bool sim = options->pmu == PMU_SIM;
    int r = sim ? uncore_sim_setup(setup, options, errors) : uncore_host_setup(setup, options, errors);
    int checked = r == 0 ? uncore_groups_check(setup, errors) : 0;
    int chosen = !sim && (r == 0 || r == -EINVAL) ? uncore_chosen_setup(setup, options, errors) : 0;
    return r < 0 ? r : checked < 0 ? checked : chosen;
}
