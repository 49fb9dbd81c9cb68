// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_COLLECTORS_SIM_SIM_LOAD_H
#define TOPDOWND_COLLECTORS_SIM_SIM_LOAD_H

// Computes exactly how often each event of a load happens between two times.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/host/scenario.h"
#include "core/spec/catalog.h"

#define SIM_RATE_MAX 1e13 // events a second: more than any CPU makes

// A count that stays exact over any number of additions: whole + rest, with rest between -0.5 and 0.5.
struct sim_count {
    uint64_t whole;
    double rest;
};

struct sim_load;

// Stands for an event that happens as often a second as a CPU is awake, of a catalog with n_events.
#define SIM_AWAKE(n_events) ((unsigned)(n_events))

// `load` NULL: nothing runs. In every load CATALOG_CPU_SECONDS happens once a second, besides the scenario's events.
// Keyframes ascend from 0 to at most the period's end. Returns 0, -ENOMEM, or -EINVAL with the event's name in *event
// if the catalog lacks it or its rate is negative, not a number or above SIM_RATE_MAX.
int sim_load_new(const struct scenario_load *load, const struct catalog *catalog, const char **event,
                 struct sim_load **out);
struct sim_load *sim_load_free(struct sim_load *load);

// True if each keyframe says for how much of the time a CPU is awake: then SIM_AWAKE can be counted.
bool sim_load_tells_awake(const struct sim_load *load);

// The position within its period of a load that is `seconds` ahead, or behind if negative.
uint64_t sim_load_phase_ns(const struct sim_load *load, double seconds);

// Adds to counts[i] how often events[i] happens between two times of the load, from_ns <= to_ns. Never adds less than
// 0.
void sim_load_count(const struct sim_load *load, uint64_t from_ns, uint64_t to_ns, const unsigned *events, size_t n,
                    struct sim_count *counts);

#endif
