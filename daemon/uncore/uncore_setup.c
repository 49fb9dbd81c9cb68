// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_setup.h"

#include <errno.h>

#include "daemon/uncore/uncore_chosen.h"
#include "daemon/uncore/uncore_source.h"

int uncore_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    if (options->pmu == PMU_REPLAY)
        return uncore_replay_setup(setup, options, errors);
    if (setup->config->uncore.off)
        return 0;
    if (options->pmu == PMU_SIM)
        return uncore_sim_setup(setup, options, errors);
    int r = uncore_host_setup(setup, options, errors);
    int chosen = r == 0 || r == -EINVAL ? uncore_chosen_setup(setup, options, errors) : 0;
    return r < 0 ? r : chosen;
}
