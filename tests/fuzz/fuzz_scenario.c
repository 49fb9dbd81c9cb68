// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "config/scenario/scenario_json.h"

// Any bytes are a scenario or an error message; a scenario keeps its promises to the simulated PMU.

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_load(const struct scenario_load *load) {
    assert(load->n_keyframes > 0 && load->keyframes[0].at_seconds == 0);
    for (size_t i = 0; i < load->n_keyframes; i++) {
        const struct scenario_keyframe *keyframe = &load->keyframes[i];
        assert(keyframe->at_seconds < load->period_seconds);
        assert(i == 0 || keyframe->at_seconds > load->keyframes[i - 1].at_seconds);
        for (size_t j = 0; j < keyframe->n_rates; j++)
            assert(isfinite(keyframe->rates[j].per_second) && keyframe->rates[j].per_second >= 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct errors errors;
    struct scenario *scenario = NULL;
    memset(&errors, 0, sizeof errors);
    int r = scenario_json_parse("fuzz.json", (const char *)data, size, &errors, &scenario);
    assert((r == 0) == (scenario != NULL));
    assert((r == 0) == (errors.n == 0));
    if (scenario) {
        assert(scenario_n_cpus(scenario) >= 1 && scenario_n_cpus(scenario) <= SCENARIO_CPUS_MAX);
    }
    for (const struct scenario *type = scenario; type; type = type->next) {
        assert(scenario_n_cpus(type) == scenario_n_cpus(scenario));
        assert((cpuset_count(&type->cpus) > 0) == (scenario->next != NULL));
        for (size_t i = 0; i < type->n_loads; i++)
            check_load(&type->loads[i]);
        for (size_t i = 0; i < type->n_assignments; i++)
            assert(type->assignments[i].load < type->n_loads);
    }
    scenario_free(scenario);
    return 0;
}
