// SPDX-License-Identifier: Apache-2.0
#include "core/host/scenario.h"

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

static struct scenario *free_one(struct scenario *scenario) {
    struct scenario *next = scenario->next;
    free(scenario->rivals);
    free(scenario->assignments);
    for (size_t i = 0; i < scenario->n_loads; i++)
        load_deinit(&scenario->loads[i]);
    free(scenario->loads);
    for (size_t i = 0; i < scenario->n_filtered; i++)
        free(scenario->filtered[i]);
    free(scenario->filtered);
    free(scenario->spec);
    free(scenario->description);
    free(scenario->name);
    free(scenario);
    return next;
}

static void free_all(struct scenario *scenario) {
    while (scenario)
        scenario = free_one(scenario);
}

struct scenario *scenario_free(struct scenario *scenario) {
    for (const struct scenario *type = scenario; type; type = type->next)
        free_all(type->uncore);
    free_all(scenario);
    return NULL;
}

size_t scenario_n_cpus(const struct scenario *scenario) {
    return (size_t)scenario->sockets * scenario->cores_per_socket * scenario->threads_per_core;
}

bool scenario_has_cpu(const struct scenario *scenario, unsigned cpu) {
    return cpu < scenario_n_cpus(scenario) && (cpuset_has(&scenario->cpus, cpu) || cpuset_count(&scenario->cpus) == 0);
}
