// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_setup.h"

#include "daemon/uncore/uncore_source.h"

int uncore_setup(struct setup *setup, const struct options *options, struct errors *errors) {
    if (options->pmu == PMU_REPLAY)
        return uncore_replay_setup(setup, options, errors);
    if (setup->config->uncore.off)
        return 0;
    return options->pmu == PMU_SIM ? uncore_sim_setup(setup, options, errors)
                                   : uncore_host_setup(setup, options, errors);
}
