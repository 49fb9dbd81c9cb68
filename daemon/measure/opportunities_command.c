// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/opportunities_command.h"

#include "daemon/base/options_error.h"
#include "daemon/measure/measure_command.h"

// The metric group that every spec with bounds has (core/spec/opportunity.h).
static const char GROUP[] = "Opportunities";

int opportunities_command_check(const struct options *options) {
    if (options->pmu == PMU_REPLAY)
        return options_say("opportunities measures now: of a recording, 'topdownd run --pmu replay:FILE' serves "
                           "/api/v1/opportunities");
    return 0;
}

int opportunities_command_run(const struct options *options) {
    struct options of = *options;
    of.measure.groups = GROUP;
    of.measure.opportunities = true;
    return measure_command_run(&of);
}
