// SPDX-License-Identifier: Apache-2.0
#include "core/scenario.h"

#include <stdlib.h>

static void keyframe_deinit(struct scenario_keyframe *keyframe) {
    for (size_t i = 0; i < keyframe->n_rates; i++)
        free(keyframe->rates[i].event);
    free(keyframe->rates);
}

static void load_deinit(struct scenario_load *load) {
    for (size_t i = 0; i < load->n_keyframes; i++)
        keyframe_deinit(&load->keyframes[i]);
    free(load->keyframes);
    free(load->name);
}

struct scenario *scenario_free(struct scenario *scenario) {
    if (!scenario)
        return NULL;
    free(scenario->rivals);
    free(scenario->assignments);
    for (size_t i = 0; i < scenario->n_loads; i++)
        load_deinit(&scenario->loads[i]);
    free(scenario->loads);
    free(scenario->spec);
    free(scenario->name);
    free(scenario);
    return NULL;
}

size_t scenario_n_cpus(const struct scenario *scenario) {
    return (size_t)scenario->sockets * scenario->cores_per_socket * scenario->threads_per_core;
}
