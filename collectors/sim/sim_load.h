// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_LOAD_H
#define TOPDOWND_COLLECTORS_SIM_SIM_LOAD_H

// What a load does: how often each event happens between two times, exactly.

#include <stddef.h>
#include <stdint.h>

#include "core/host/scenario.h"
#include "core/spec/catalog.h"

#define SIM_RATE_MAX 1e13 // events a second: more than any CPU makes

// A count that loses nothing however often it is added to: it is whole + rest, and rest is at most 0.5 either way.
struct sim_count {
    uint64_t whole;
    double rest;
};

struct sim_load;

// `load` NULL: nothing runs. Besides the scenario's events, CATALOG_CPU_SECONDS happens once a second in every load.
// Keyframes ascend from 0 to the period's end at most. Returns 0, -ENOMEM, or -EINVAL with the event's name in
// *event where the catalog lacks it or its rate is negative, no number or above SIM_RATE_MAX.
int sim_load_new(const struct scenario_load *load, const struct catalog *catalog, const char **event,
                 struct sim_load **out);
struct sim_load *sim_load_free(struct sim_load *load);

// Where in its period a load is that is `seconds` ahead, or behind where negative.
uint64_t sim_load_phase_ns(const struct sim_load *load, double seconds);

// Adds to counts[i] how often events[i] happens between two times of the load, from_ns <= to_ns. Never adds less than
// 0.
void sim_load_count(const struct sim_load *load, uint64_t from_ns, uint64_t to_ns, const unsigned *events, size_t n,
                    struct sim_count *counts);

#endif
