// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/load.h"
#include "config/scenario/scenario_json.h"

static void fail(const char *what, int error) {
    (void)fprintf(stderr, "bench: %s: %s\n", what, strerror(-error));
    exit(EXIT_FAILURE);
}

static void take_load(const struct catalog *catalog, const struct scenario_load *load, double *rates) {
    const struct scenario_keyframe *frame = &load->keyframes[0];
    for (size_t i = 0; i < frame->n_rates; i++) {
        int event = catalog_find_event(catalog, frame->rates[i].event);
        if (event < 0)
            fail(frame->rates[i].event, -EINVAL);
        rates[event] = frame->rates[i].per_second;
    }
}

double *rates_load(const struct catalog *catalog, const char *spec) {
    char path[96];
    static const char *const names[MIX_N] = {"web", "database", "batch", "idle", "sleep"};
    struct errors errors = {0};
    struct scenario *scenario;
    (void)snprintf(path, sizeof path, "bench/accuracy/%.40s.json", spec);
    int r = scenario_json_load(path, &errors, &scenario);
    if (r < 0)
        fail(path, r);
    double *rates = calloc(MIX_N * catalog->n_events + 1, sizeof *rates);
    if (!rates)
        fail("memory", -ENOMEM);
    for (size_t mix = 0; mix < MIX_N; mix++)
        for (size_t l = 0; l < scenario->n_loads; l++)
            if (strcmp(scenario->loads[l].name, names[mix]) == 0)
                take_load(catalog, &scenario->loads[l], rates + mix * catalog->n_events);
    scenario_free(scenario);
    return rates;
}
