// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_FAULT_CHECK_H
#define TOPDOWND_TESTS_SIMULATION_FAULT_CHECK_H

// Shared by the tests of faults: a host with a steady load, whose truth is known at every moment, measured as in the
// daemon.

#include "tests/simulation/pipeline.h"

static inline void fault_load(struct pipeline *p) { pipeline_load(p, "tests/data/scenarios/steady.json"); }

static inline void fault_start(struct pipeline *p, uint64_t slot_ns, uint64_t seed) {
    static const char *const groups[] = {"stage_1", "General", "MPKI", "Miss_Ratio", NULL};
    pipeline_start_following(p, slot_ns, seed, groups);
}

static inline void start(struct pipeline *p) { fault_start(p, SECOND_NS / 5, 1); }

// A rival on some CPUs for some time after EPOCH_NS.
static inline struct scenario_rival *add_rival(struct pipeline *p, enum scenario_rival_kind kind, unsigned counters,
                                               const char *cpus, double from_seconds, double until_seconds) {
    struct scenario_rival *rival = pipeline_add_rival(p, kind, counters);
    assert_int_equal(cpuset_parse(cpus, &rival->cpus), 0);
    rival->from_seconds = from_seconds;
    rival->until_seconds = until_seconds;
    return rival;
}

static inline double covered(const struct pipeline *p, size_t scope) {
    return p->snapshot->values[snapshot_covered(p->layout, scope)];
}

static inline double uncovered(const struct pipeline *p, size_t scope, enum uncovered reason) {
    return p->snapshot->values[snapshot_uncovered(p->layout, scope, reason)];
}

static inline double elapsed_seconds(const struct pipeline *p) {
    return (double)(p->snapshot->end_ns - p->start_ns) * 1e-9;
}

// Nothing is uncovered for any other reason.
static inline void assert_only_uncovered(const struct pipeline *p, size_t scope, enum uncovered allowed) {
    for (unsigned reason = 0; reason < UNCOVERED_N; reason++)
        if (reason != allowed)
            assert_true(uncovered(p, scope, (enum uncovered)reason) == 0);
}

static inline void assert_all_gauges_true(const struct pipeline *p) {
    for (size_t scope = 0; scope < p->layout->n_scopes; scope++)
        assert_gauges_true(p, scope, 1e-6);
}

// Level 1 is there and right: the categories add up to width times cycles of the time that was covered.
static inline void assert_level1_is_whole(const struct pipeline *p) {
    double sum = 0;
    for (size_t i = 0; i < p->layout->n_level1; i++)
        sum += p->snapshot->values[snapshot_category(p->layout, 0, i)];
    assert_near(sum, p->snapshot->values[snapshot_pipeline_slots(p->layout, 0)], 1e-9, "categories");
}

// Silences an event until so many seconds after EPOCH_NS, 0: for ever.
static inline void silence(struct pipeline *p, const char *event, double until_seconds) {
    struct scenario_load *load = &p->scenario->loads[0];
    struct scenario_keyframe *keyframes = calloc(3, sizeof *keyframes);
    assert_non_null(keyframes);
    for (int k = 0; k < 3; k++) {
        keyframes[k] = (struct scenario_keyframe){.n_rates = load->keyframes[0].n_rates};
        keyframes[k].rates = calloc(keyframes[k].n_rates, sizeof *keyframes[k].rates);
        for (size_t i = 0; i < keyframes[k].n_rates; i++) {
            const struct scenario_rate *rate = &load->keyframes[0].rates[i];
            bool silent = strcmp(rate->event, event) == 0 && (k < 2 || until_seconds == 0);
            keyframes[k].rates[i] = (struct scenario_rate){strdup(rate->event), silent ? 0 : rate->per_second};
        }
    }
    keyframes[1].at_seconds = until_seconds > 0 ? until_seconds : 1;
    keyframes[2].at_seconds = keyframes[1].at_seconds + 1e-6;
    for (size_t i = 0; i < load->keyframes[0].n_rates; i++)
        free(load->keyframes[0].rates[i].event);
    free(load->keyframes[0].rates);
    free(load->keyframes);
    load->keyframes = keyframes;
    load->n_keyframes = 3;
    load->period_seconds = 1e9;
}

#endif
