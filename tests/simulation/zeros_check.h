// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_SIMULATION_ZEROS_CHECK_H
#define TOPDOWND_TESTS_SIMULATION_ZEROS_CHECK_H

// Simulated hosts of any spec on which some events never happen.

#include "core/diagnosis/bound.h"
#include "tests/simulation/pipeline.h"

#define ZEROS_SLOT_NS (SECOND_NS / 5)
#define ONE_A_WINDOW 5.0 // a second

static inline bool same_code(const struct catalog *catalog, unsigned a, unsigned b) {
    const struct pmu_event *x = &catalog->events[a].code, *y = &catalog->events[b].code;
    return x->pmu == y->pmu && x->config == y->config && x->config1 == y->config1 && x->config2 == y->config2 &&
           x->exclude == y->exclude;
}

// True if another event of the catalog is the same to the hardware, which knows codes, not names.
static inline bool shares_code(const struct catalog *catalog, unsigned event) {
    bool shares = false;
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events && !shares; e++)
        shares = e != event && catalog->events[e].kind == EVENT_COUNTED && same_code(catalog, e, event);
    return shares;
}

// True for an event that may be silent for seconds. Not so the fields of PERF_METRICS: the slots that they share are
// always there.
static inline bool is_optional(const struct pipeline *p, unsigned event) {
    const struct catalog *catalog = p->catalog;
    bool must = catalog->events[event].kind != EVENT_COUNTED || catalog->events[event].topdown;
    for (unsigned e = 0; e < catalog->n_events && !must; e++)
        must = catalog->events[e].must_count && same_code(catalog, e, event);
    return !must;
}

static inline struct scenario_rate *rate_of(struct pipeline *p, const char *event) {
    struct scenario_keyframe *keyframe = &p->scenario->loads[0].keyframes[0];
    for (size_t i = 0; i < keyframe->n_rates; i++)
        if (strcmp(keyframe->rates[i].event, event) == 0)
            return &keyframe->rates[i];
    fail_msg("the host has no event %s", event);
    return NULL;
}

static inline void set_rate(struct pipeline *p, const char *event, double per_second) {
    rate_of(p, event)->per_second = per_second;
}

// Gives every event that may be silent this rate; of `one_in` only one, which `seed` chooses, by the events' codes.
static inline void set_optional(struct pipeline *p, double per_second, uint64_t seed, uint64_t one_in) {
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < p->catalog->n_events; e++) {
        const struct pmu_event *code = &p->catalog->events[e].code;
        uint64_t random = seed + code->config * 31 + code->config1 * 7 + code->pmu + code->exclude;
        if (is_optional(p, e) && random_below(&random, one_in) == 0)
            set_rate(p, p->catalog->events[e].name, per_second);
    }
}

// The metric has its formula's value for the true counts, or none because the formula divides by zero there.
static inline bool is_true(const struct pipeline *p, size_t m) {
    double truth = pipeline_truth(p, 0, m, p->snapshot->start_ns, p->snapshot->end_ns);
    double value = p->snapshot->values[snapshot_metric(p->layout, 0, m)];
    int unit = p->plan->metrics[m].unit;
    double relative = unit >= 0 && plan_unit_stands(p->plan, (unsigned)unit) ? 1e-6 : 1e-9; // fractions of counts
    if (isnan(truth))
        return isnan(value) && p->snapshot->absent[m] == ABSENT_UNDEFINED;
    return p->snapshot->absent[m] == ABSENT_NOT && fabs(value - truth) <= relative * fabs(truth) + 1e-12;
}

// What the host is bound by, as text: the names of the path and whether they are high.
static inline void tell_bound(const struct pipeline *p, char *out, size_t size) {
    const struct verdict *verdict = &p->snapshot->verdicts[0].now;
    (void)snprintf(out, size, "%d", (int)verdict->high);
    for (size_t i = 0; i < verdict->n; i++) {
        size_t length = strlen(out);
        (void)snprintf(out + length, size - length, " %s", p->layout->catalog->metrics[verdict->path[i]].name);
    }
}

#endif
