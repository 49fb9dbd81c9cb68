// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_TESTS_UNIT_ONE_CORE_H
#define TOPDOWND_TESTS_UNIT_ONE_CORE_H

// A core of two threads whose slots are known, what each vendor's PMU counts on it, and a machine that has only this
// core.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "core/base/random.h"
#include "core/tally/derive.h"
#include "tests/build/build.h"

#define FREQUENCY_HZ 3e9
#define SECOND_NS UINT64_C(1000000000)

// ---- the truth ----

// What a thread did in a second, in slots of the width below.
struct thread_truth {
    double cycles, alone;               // awake; awake while the other one slept
    double granted;                     // slots
    double used, retired, front, back;  // of these: used, and of these useful; empty, by the thread's own reason
    double stalled_front, stalled_back; // as AMD counts: also while the other one was served
    double contention;
};

struct core_truth {
    double width, cycles; // in which any thread was awake
    struct thread_truth threads[2];
};

// How a core that both threads want is shared.
enum arbiter {
    IN_TURN,  // each cycle is granted to one of the threads in turn, also if it has nothing to dispatch
    ON_DEMAND // a cycle that only one of them wants is its own
};

// A thread's ways: the share of cycles in which it has something to dispatch, and how much of the width; why it has
// nothing otherwise; how much of it is useful.
struct ways {
    double wants, fills, front, useful;
};

static inline void serve(struct thread_truth *of, const struct ways *ways, double slots, double wanted) {
    double used = wanted * ways->fills, empty = slots - wanted;
    of->granted += slots;
    of->used += used;
    of->front += wanted - used + empty * ways->front;
    of->back += empty * (1 - ways->front);
}

// As many slots as both threads are awake for.
static inline void serve_both(struct core_truth *core, const struct ways *ways, enum arbiter arbiter, double slots) {
    double a = ways[0].wants, b = ways[1].wants, neither = (1 - a) * (1 - b) * slots;
    for (size_t i = 0; i < 2; i++) {
        struct thread_truth *of = &core->threads[i];
        double wants = ways[i].wants, others = ways[1 - i].wants;
        double served = wants * slots * (arbiter == IN_TURN ? 0.5 : 1 - others / 2), before_front = of->front;
        double before_back = of->back;
        serve(of, &ways[i], arbiter == IN_TURN ? slots / 2 : served + neither / 2, served);
        if (arbiter == IN_TURN) {
            of->stalled_front += of->front - before_front;
            of->stalled_back += of->back - before_back;
            of->contention += slots / 2;
        } else {
            of->stalled_front += served * (1 - ways[i].fills) + (1 - wants) * slots * ways[i].front;
            of->stalled_back += (1 - wants) * slots * (1 - ways[i].front);
            of->contention += a * b * slots / 2;
        }
    }
}

static inline void serve_alone(struct core_truth *core, const struct ways *ways, size_t i, double slots) {
    struct thread_truth *of = &core->threads[i];
    double front = of->front, back = of->back;
    serve(of, &ways[i], slots, ways[i].wants * slots);
    of->stalled_front += of->front - front;
    of->stalled_back += of->back - back;
}

static inline double between(uint64_t *random, double from, double to) {
    return from + (to - from) * (double)random_below(random, 1000001) / 1e6;
}

// Two threads of any ways that are awake for any time, together for any possible one. `busy`: all the time.
static inline struct core_truth any_core(uint64_t *random, double width, enum arbiter arbiter, bool busy) {
    struct core_truth core = {.width = width};
    struct ways ways[2];
    double awake[2], both;
    for (size_t i = 0; i < 2; i++) {
        ways[i] = (struct ways){between(random, 0.05, 0.95), between(random, 0.4, 1), between(random, 0, 1),
                                between(random, 0.7, 1)};
        awake[i] = busy ? 1 : random_below(random, 5) == 0 ? 0 : between(random, 0.01, 1);
    }
    both = between(random, fmax(awake[0] + awake[1] - 1, 0), fmin(awake[0], awake[1]));
    for (size_t i = 0; i < 2; i++) {
        core.threads[i].cycles = awake[i] * FREQUENCY_HZ;
        core.threads[i].alone = (awake[i] - both) * FREQUENCY_HZ;
        serve_alone(&core, ways, i, width * core.threads[i].alone);
    }
    core.cycles = (awake[0] + awake[1] - both) * FREQUENCY_HZ;
    serve_both(&core, ways, arbiter, width * both * FREQUENCY_HZ);
    for (size_t i = 0; i < 2; i++)
        core.threads[i].retired = core.threads[i].used * ways[i].useful;
    return core;
}

static inline double true_share(const struct core_truth *core, enum category category) {
    double sum = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct thread_truth *of = &core->threads[i];
        const double slots[] = {[CATEGORY_FRONTEND_BOUND] = of->front,
                                [CATEGORY_BAD_SPECULATION] = of->used - of->retired,
                                [CATEGORY_RETIRING] = of->retired,
                                [CATEGORY_BACKEND_BOUND] = of->back};
        sum += slots[category];
    }
    return sum / (core->width * core->cycles);
}

// What the PMUs count, by their names. Recovery takes no cycles of its own here, and nothing is dropped.
static inline double count_of(const struct thread_truth *of, const char *event) {
    const struct {
        const char *name;
        double count;
    } counts[] = {{"CPU_CLK_UNHALTED.THREAD", of->cycles},
                  {"CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", of->alone / 100},
                  {"CPU_CLK_UNHALTED.REF_XCLK", of->cycles / 100},
                  {"UOPS_ISSUED.ANY", of->used},
                  {"UOPS_RETIRED.RETIRE_SLOTS", of->retired},
                  {"UOPS_RETIRED.SLOTS", of->retired},
                  {"IDQ_UOPS_NOT_DELIVERED.CORE", of->front},
                  {"IDQ_BUBBLES.CORE", of->front},
                  {"TOPDOWN.BACKEND_BOUND_SLOTS", of->back},
                  {"TOPDOWN.SLOTS_P", of->granted},
                  {"slots", of->granted},
                  {"topdown-retiring", of->retired},
                  {"topdown-bad-spec", of->used - of->retired},
                  {"topdown-fe-bound", of->front},
                  {"topdown-be-bound", of->back},
                  {"ls_not_halted_cyc", of->cycles},
                  {"de_no_dispatch_per_slot.no_ops_from_frontend", of->stalled_front},
                  {"de_no_dispatch_per_slot.backend_stalls", of->stalled_back},
                  {"de_no_dispatch_per_slot.smt_contention", of->contention},
                  {"de_src_op_disp.all", of->used},
                  {"ex_ret_ops", of->retired}};
    for (size_t i = 0; i < N_OF(counts); i++)
        if (strcmp(counts[i].name, event) == 0)
            return counts[i].count;
    return 0;
}

// ---- the machine ----

struct machine {
    const char *spec;
    struct catalog *catalog;
    unsigned counters; // general ones
    bool unknown;      // the PMU does not say which events it has
    struct snapshot_layout *layout;
    struct derive *derive;
    struct readings *readings;
    struct snapshot *snapshot;
};

static inline struct catalog *load(const char *spec, bool without_topdown) {
    static struct errors errors;
    struct environment environment;
    struct catalog_builder *builder = NULL;
    char path[128];
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 1;
    environment.facts.literals[LITERAL_HAS_PMEM] = 0;
    environment.facts.literals[LITERAL_SYSTEM_TSC_FREQ] = 2e9;
    (void)snprintf(path, sizeof path, "specs/%s.json", spec);
    if (spec_json_read(path, &environment, &errors, &builder) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    if (without_topdown)
        catalog_builder_drop_topdown(builder);
    return catalog_builder_finish(builder);
}

static inline struct plan *level1_plan(const struct catalog *catalog, unsigned counters, bool unknown) {
    unsigned group = 0;
    uint8_t *support = malloc(catalog->n_events);
    assert_non_null(support);
    memset(support, unknown ? PLAN_SUPPORT_UNKNOWN : PLAN_SUPPORTED, catalog->n_events);
    while (!(catalog->groups[group].n_metrics <= 6 &&
             catalog->groups[group].metrics[0] == catalog->level1.categories[0].metric))
        assert_true(++group < catalog->n_groups);
    const struct plan_selection selection = {group, 1};
    struct plan *plan = build_plan(&(struct plan_request){.catalog = catalog,
                                                          .general_counters = counters,
                                                          .selections = &selection,
                                                          .n_selections = 1,
                                                          .slot_ns = SECOND_NS / 5,
                                                          .support = support});
    free(support);
    assert_true(plan->level1_unit >= 0);
    return plan;
}

// Begins to measure anew.
static inline void machine_begin(struct machine *machine) {
    const struct topology_source cpus[] = {{.id = 0, .core = 0, .package = 0, .selected = true},
                                           {.id = 1, .core = 0, .package = 0, .selected = true}};
    struct topology *topology = build_topology(cpus, 2);
    topology->maximum_frequency_hz = FREQUENCY_HZ;
    struct plan *plan = level1_plan(machine->catalog, machine->counters, machine->unknown);
    machine->layout = build_layout(plan, topology);
    machine->derive = derive_new(machine->layout);
    machine->readings = readings_new(plan, topology);
    assert_true(machine->derive && machine->readings);
    readings_begin(machine->readings, 0, SECOND_NS);
}

static inline void machine_end(struct machine *machine) {
    machine->snapshot = snapshot_unref(machine->snapshot);
    machine->readings = readings_free(machine->readings);
    machine->derive = derive_free(machine->derive);
    machine->layout = snapshot_layout_unref(machine->layout);
}

static inline void count_window(struct machine *machine, const struct core_truth *core, unsigned cpu, unsigned g) {
    const struct plan_group *group = &machine->layout->plan->groups[g];
    struct window *window = readings_add(machine->readings, cpu, g, group->n_events);
    window->result = WINDOW_COMPLETE;
    window->enabled_ns = window->running_ns = SECOND_NS;
    for (size_t i = 0; i < group->n_events; i++)
        window->counts[i] = (uint64_t)count_of(&core->threads[cpu], machine->catalog->events[group->events[i]].name);
}

static inline void end_round(struct machine *machine, uint64_t seconds) {
    struct readings *readings = machine->readings;
    readings->end_ns = readings->start_ns + seconds * SECOND_NS;
    readings->round_over = true;
    snapshot_unref(machine->snapshot);
    machine->snapshot = snapshot_new(machine->layout);
    derive_round(machine->derive, readings, machine->snapshot);
    readings_begin(readings, readings->round + 1, readings->end_ns);
}

// Two rounds that are alike, so that only what is estimated has an error.
static inline void measure(struct machine *machine, const struct core_truth *core) {
    const struct plan *plan = machine->layout->plan;
    for (int round = 0; round < 2; round++) {
        for (unsigned g = 0; g < plan->n_groups; g++)
            for (unsigned cpu = 0; cpu < 2; cpu++)
                count_window(machine, core, cpu, g);
        end_round(machine, plan->n_groups);
    }
}

struct found {
    double value, low, high;
};

static inline struct found share_of(const struct machine *machine, enum category category) {
    const struct catalog_level1 *level1 = &machine->catalog->level1;
    size_t i = 0;
    while (level1->categories[i].category != category)
        assert_true(++i < level1->n_categories);
    size_t m = (size_t)machine->layout->plan->place[level1->categories[i].metric];
    const double *values = machine->snapshot->values;
    return (struct found){values[snapshot_metric(machine->layout, 0, m)], values[snapshot_low(machine->layout, 0, m)],
                          values[snapshot_high(machine->layout, 0, m)]};
}

#endif
