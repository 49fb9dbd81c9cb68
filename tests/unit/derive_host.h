// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_DERIVE_HOST_H
#define TOPDOWND_TESTS_UNIT_DERIVE_HOST_H

// Two CPUs with a socket each, and readings made by hand.

#include "tests/unit/led_catalog.h"

#include <errno.h>
#include <math.h>

#include "core/tally/derive.h"

#define SECOND_NS UINT64_C(1000000000)

enum { CPUS = 2, CYCLES = 1, A, B, C, D };

struct host {
    struct catalog_builder *builder; // until host_start
    struct catalog *catalog;
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot;
    uint8_t support[32];
    bool split; // CPU 1 has a sibling that is not measured
};

static inline struct catalog_builder *plain_builder(void) {
    static const char *const events[] = {"CYCLES", "A", "B", "C", "D"};
    return builder_of(events, N_OF(events));
}

// Says that the event counts in any busy second.
static inline void must_count(struct host *host, unsigned event) {
    catalog_builder_catalog(host->builder)->events[event].must_count = true;
}

// A plan of the catalog's only group, with the PMU's support from `support`.
static inline struct plan *host_plan(struct host *host, unsigned counters) {
    const struct plan_selection selection = {.group = 0, .weight = 1};
    host->catalog = catalog_builder_finish(host->builder);
    const struct plan_request request = {.catalog = host->catalog,
                                         .general_counters = counters,
                                         .selections = &selection,
                                         .n_selections = 1,
                                         .slot_ns = SECOND_NS,
                                         .support = host->support};
    assert_true(host->catalog->n_events <= N_OF(host->support));
    return build_plan(&request);
}

// Measures on two CPUs with a socket each.
static inline void host_start_plan(struct host *host, struct plan *plan) {
    const struct topology_source cpus[] = {{.id = 0, .core = 0, .package = 0, .selected = true},
                                           {.id = 1, .core = 1, .package = 1, .selected = true},
                                           {.id = 2, .core = 1, .package = 1}};
    host->layout = build_layout(plan, build_topology(cpus, host->split ? CPUS + 1 : CPUS));
    host->derive = derive_new(host->layout);
    host->readings = readings_new(host->layout->plan, host->layout->topology);
    assert_true(host->derive && host->readings);
    readings_begin(host->readings, 0, SECOND_NS);
}

static inline void host_start(struct host *host, unsigned counters) {
    host_start_plan(host, host_plan(host, counters));
}

static inline void host_init(struct host *host, struct catalog_builder *builder) {
    *host = (struct host){.builder = builder};
    memset(host->support, PLAN_SUPPORTED, sizeof host->support);
}

static inline void host_deinit(struct host *host) {
    snapshot_unref(host->snapshot);
    readings_free(host->readings);
    derive_free(host->derive);
    snapshot_layout_unref(host->layout);
    catalog_free(host->catalog);
}

// A window of a second; `counts` are by catalog event.
static inline struct window *window_of(struct host *host, unsigned cpu, unsigned group, const uint64_t *counts) {
    const struct plan_group *of = &host->layout->plan->groups[group];
    struct window *window = readings_add(host->readings, cpu, group, of->n_events);
    window->result = WINDOW_COMPLETE;
    window->enabled_ns = window->running_ns = SECOND_NS;
    for (size_t i = 0; i < of->n_events; i++)
        window->counts[i] = counts[of->events[i]];
    return window;
}

// A window of each event group, one after the other.
static inline void windows_of(struct host *host, unsigned cpu, const uint64_t *counts) {
    for (unsigned g = 0; g < host->layout->plan->n_groups; g++)
        (void)window_of(host, cpu, g, counts);
}

static inline void fail_window(struct window *window, enum window_result result, int error) {
    window->result = result;
    window->error = error;
    window->running_ns = 0;
}

static inline void end_round(struct host *host, unsigned seconds) {
    struct readings *readings = host->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    snapshot_unref(host->snapshot);
    host->snapshot = snapshot_new(host->layout);
    assert_non_null(host->snapshot);
    derive_round(host->derive, readings, host->snapshot);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

static inline size_t metric_place(const struct host *host, const char *name) {
    const struct plan *plan = host->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strcmp(host->catalog->metrics[plan->metrics[m].metric].name, name) == 0)
            return m;
    fail_msg("%s is not planned", name);
    return 0;
}

static inline unsigned group_with(const struct host *host, unsigned event) {
    const struct plan *plan = host->layout->plan;
    for (unsigned g = 0; g < plan->n_groups; g++)
        for (size_t i = 0; i < plan->groups[g].n_events; i++)
            if (plan->groups[g].events[i] == event)
                return g;
    fail_msg("no event group has event %u", event);
    return 0;
}

static inline void near(const char *what, double value, double wanted) {
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%s: %.17g, should be %.17g", what, value, wanted);
}

static inline void expect(const struct host *host, size_t scope, const char *name, double wanted) {
    size_t m = metric_place(host, name);
    assert_int_equal(host->snapshot->absent[snapshot_state(host->layout, scope, m)], ABSENT_NOT);
    near(name, host->snapshot->values[snapshot_metric(host->layout, scope, m)], wanted);
}

static inline void expect_absent(const struct host *host, size_t scope, const char *name, enum absent reason) {
    size_t m = metric_place(host, name);
    assert_true(isnan(host->snapshot->values[snapshot_metric(host->layout, scope, m)]));
    assert_string_equal(absent_text(host->snapshot->absent[snapshot_state(host->layout, scope, m)]),
                        absent_text(reason));
}

static inline size_t cpu_scope(const struct host *host, size_t cpu) { return snapshot_scope_cpu(host->layout, cpu); }

#endif
