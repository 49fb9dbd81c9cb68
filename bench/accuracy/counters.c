// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/counters.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double NS = 1e-9, CLOCK_STEP = 0.01;

// An event group on a CPU. Sums since it was opened are what the kernel would say; those of the round are for the
// truth.
struct counters_group {
    unsigned cpu;
    size_t n;         // events
    unsigned *events; // of the catalog
    bool enabled;
    double since; // of what has not been added up yet
    double enabled_seconds, running_seconds;
    double *counts; // sums of windows that have ended
    double *window; // of the one that goes on
    double on, off; // seconds counted in the round
    double *noise;  // in them
};

static struct counters *of(struct pmu *pmu) { return (struct counters *)pmu; }

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        abort();
    return made;
}

// Adds up what the group counted until now.
static void count(struct counters *c, struct counters_group *group) {
    struct trial *t = c->trial;
    const struct load *load = &t->loads[group->cpu];
    double on, off;
    if (!group->enabled || !(c->now > group->since))
        return;
    trial_running(load, group->since, c->now, &on, &off);
    group->enabled_seconds += c->now - group->since;
    group->running_seconds += on + off;
    group->on += on;
    group->off += off;
    for (size_t i = 0; i < group->n && on + off > 0; i++) {
        double noise = trial_noise(t, load->kind, group->events[i], on, off);
        group->window[i] += trial_count(t, load->kind, group->events[i], on, off) + noise;
        group->noise[i] += noise;
    }
    group->since = c->now;
}

static void end_window(struct counters *c, struct counters_group *group) {
    count(c, group);
    trial_round_fields(c->trial, group->events, group->n, group->window);
    for (size_t i = 0; i < group->n; i++) {
        group->counts[i] += group->window[i];
        group->window[i] = 0;
    }
}

// ---- the PMU ----

static void advance(struct pmu *pmu, uint64_t now_ns) { of(pmu)->now = (double)(now_ns - COUNTERS_EPOCH_NS) * NS; }

static bool same_events(const struct plan *plan, const struct plan_group *group, const struct pmu_event *events,
                        size_t n) {
    for (size_t i = 0; i < n && i < group->n_events; i++)
        if (memcmp(&plan->catalog->events[group->events[i]].code, &events[i], sizeof *events) != 0)
            return false;
    return n == group->n_events;
}

static int open_group(struct pmu *pmu, unsigned cpu, const struct pmu_event *events, size_t n) {
    struct counters *c = of(pmu);
    const struct plan *plan = c->trial->plan;
    size_t g = 0;
    while (g < plan->n_groups && !same_events(plan, &plan->groups[g], events, n))
        g++;
    if (g == plan->n_groups)
        abort();
    if (c->n_groups == c->capacity) {
        c->capacity = 2 * c->capacity + 64;
        c->groups = realloc(c->groups, c->capacity * sizeof(struct counters_group *));
        if (!c->groups)
            abort();
    }
    struct counters_group *group = array(1, sizeof *group);
    *group = (struct counters_group){.cpu = cpu, .n = n, .events = array(n, sizeof *group->events)};
    memcpy(group->events, plan->groups[g].events, n * sizeof *group->events);
    group->counts = array(3 * n, sizeof *group->counts);
    group->window = group->counts + n;
    group->noise = group->window + n;
    c->groups[c->n_groups] = group;
    c->handles[cpu * plan->n_groups + g] = (int)c->n_groups;
    return (int)c->n_groups++;
}

static int enable(struct pmu *pmu, int handle, bool enabled) {
    struct counters *c = of(pmu);
    struct counters_group *group = c->groups[handle];
    c->interrupts[group->cpu] += group->enabled != enabled;
    if (group->enabled && !enabled)
        end_window(c, group);
    if (!group->enabled && enabled)
        group->since = c->now;
    group->enabled = enabled;
    return 0;
}

static int read_group(struct pmu *pmu, int handle, struct pmu_times *times, uint64_t *counts, size_t n) {
    struct counters *c = of(pmu);
    struct counters_group *group = c->groups[handle];
    c->interrupts[group->cpu] += group->enabled;
    if (group->enabled)
        end_window(c, group);
    *times = (struct pmu_times){.enabled_ns = (uint64_t)(group->enabled_seconds / NS + 0.5),
                                .running_ns = (uint64_t)(group->running_seconds / NS + 0.5)};
    for (size_t i = 0; i < n; i++)
        counts[i] = (uint64_t)fmax(group->counts[i] + 0.5, 0);
    return 0;
}

static void close_group(struct pmu *pmu, int handle) {
    struct counters *c = of(pmu);
    (void)enable(pmu, handle, false);
    for (size_t i = 0; i < c->trial->n_cpus * c->trial->plan->n_groups; i++)
        if (c->handles[i] == handle)
            c->handles[i] = -1;
}

static void free_pmu(struct pmu *pmu) { counters_free(of(pmu)); }

// ---- the clock ----

static bool read_clock(struct busy_clock *clock, const struct topology *topology, uint64_t now_ns, uint64_t *busy_ns) {
    struct counters *c = (struct counters *)((char *)clock - offsetof(struct counters, busy_clock));
    double at = (double)(now_ns - COUNTERS_EPOCH_NS) * NS;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        const struct load *load = &c->trial->loads[cpu];
        double on = load_on(load, at) - load_on(load, 0), idle; // a periodic load has begun earlier
        idle = on * (1 - load_mix_busy[load->kind->on]) + (at - on) * (1 - load_mix_busy[load->kind->off]);
        uint64_t busy = (uint64_t)((at - floor(idle / CLOCK_STEP) * CLOCK_STEP) / NS);
        busy_ns[cpu] = busy > busy_ns[cpu] ? busy : busy_ns[cpu];
    }
    return true;
}

// ---- making ----

struct counters *counters_new(struct trial *trial) {
    static const struct pmu_ops ops = {.advance = advance,
                                       .open = open_group,
                                       .enable = enable,
                                       .read = read_group,
                                       .close = close_group,
                                       .free = free_pmu};
    struct counters *c = array(1, sizeof *c);
    *c = (struct counters){.pmu = {.ops = &ops}, .busy_clock = {.read = read_clock}, .trial = trial};
    c->interrupts = array(trial->n_cpus, sizeof *c->interrupts);
    c->handles = array(trial->n_cpus * trial->plan->n_groups, sizeof *c->handles);
    for (size_t i = 0; i < trial->n_cpus * trial->plan->n_groups; i++)
        c->handles[i] = -1;
    return c;
}

struct counters *counters_free(struct counters *c) {
    for (size_t i = 0; i < c->n_groups; i++) {
        free(c->groups[i]->events);
        free(c->groups[i]->counts);
        free(c->groups[i]);
    }
    free(c->groups);
    free(c->handles);
    free(c->interrupts);
    free(c);
    return NULL;
}

// ---- the truth ----

// Adds a group's noise of the round to its unit's truth, and takes its time out of what no window counted.
static void take_noise(const struct counters_group *group, const struct plan_unit *unit, double *truth, double *on,
                       double *off) {
    *on -= group->on;
    *off -= group->off;
    for (size_t i = 0; i < unit->n_events; i++)
        for (size_t e = 0; e < group->n; e++)
            if (group->events[e] == unit->events[i])
                truth[1 + i] += group->noise[e];
}

void counters_truth(struct counters *c, size_t cpu, double from, double to, double *truth) {
    struct trial *t = c->trial;
    const struct plan *plan = t->plan;
    const struct load *load = &t->loads[cpu];
    double on = load_on(load, to) - load_on(load, from), off = to - from - on;
    int *handles = c->handles + cpu * plan->n_groups;
    for (size_t g = 0; g < plan->n_groups; g++)
        if (handles[g] >= 0)
            count(c, c->groups[handles[g]]);
    for (unsigned u = 0; u < plan->n_units; u++) {
        const struct plan_unit *unit = &plan->units[u];
        double *values = truth + rows_first(t->rows, u), on_left = on, off_left = off;
        bool everywhere = plan->common_unit == (int)u;
        for (size_t g = 0; g < plan->n_groups; g++)
            if (handles[g] >= 0 && (everywhere || plan->groups[g].unit == u))
                take_noise(c->groups[handles[g]], unit, values, &on_left, &off_left);
        values[0] += to - from;
        for (size_t i = 0; i < unit->n_events; i++)
            values[1 + i] += trial_count(t, load->kind, unit->events[i], on, off) +
                             trial_noise(t, load->kind, unit->events[i], fmax(on_left, 0), fmax(off_left, 0));
    }
    for (size_t g = 0; g < plan->n_groups; g++) {
        struct counters_group *group = handles[g] >= 0 ? c->groups[handles[g]] : NULL;
        if (group) {
            group->on = group->off = 0;
            memset(group->noise, 0, group->n * sizeof *group->noise);
        }
    }
}
