// SPDX-License-Identifier: Apache-2.0
#include "daemon/measure/task_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t FIRST_NS = UINT64_C(1000000000); // of the time that passes while the tasks run

struct open_group {
    int handle;              // negative: errno
    struct pmu_times before; // at the last reading
    uint64_t *counts;        // likewise
};

struct task_counts {
    struct pmu_linux_tasks *tasks;
    const struct plan *plan;
    struct open_group *groups;
    struct readings *readings;
    uint64_t *now; // room for a group's counts
    uint64_t round, enabled_ns;
};

static size_t most_events(const struct plan *plan) {
    size_t most = 1;
    for (size_t g = 0; g < plan->n_groups; g++)
        most = plan->groups[g].n_events > most ? plan->groups[g].n_events : most;
    return most;
}

int task_counts_new(struct pmu_linux_tasks *tasks, const struct plan *plan, const struct topology *topology,
                    struct task_counts **out) {
    struct task_counts *counts = calloc(1, sizeof *counts);
    if (!counts) {
        pmu_linux_tasks_free(tasks);
        return -ENOMEM;
    }
    *counts = (struct task_counts){.tasks = tasks,
                                   .plan = plan,
                                   .groups = calloc(plan->n_groups + 1, sizeof *counts->groups),
                                   .readings = readings_new(plan, topology),
                                   .now = calloc(most_events(plan), sizeof *counts->now)};
    bool complete = counts->groups && counts->readings && counts->now;
    for (size_t g = 0; g < plan->n_groups && complete; g++) {
        counts->groups[g].handle = -ENODEV;
        counts->groups[g].counts = calloc(plan->groups[g].n_events, sizeof *counts->groups[g].counts);
        complete = counts->groups[g].counts;
    }
    if (!complete) {
        task_counts_free(counts);
        return -ENOMEM;
    }
    *out = counts;
    return 0;
}

struct task_counts *task_counts_free(struct task_counts *counts) {
    if (!counts)
        return NULL;
    for (size_t g = 0; counts->groups && g < counts->plan->n_groups; g++)
        free(counts->groups[g].counts);
    free(counts->groups);
    free(counts->now);
    readings_free(counts->readings);
    pmu_linux_tasks_free(counts->tasks);
    free(counts);
    return NULL;
}

static int open_group(const struct task_counts *counts, const struct plan_group *group) {
    struct pmu_event *events = calloc(group->n_events, sizeof *events);
    if (!events)
        return -ENOMEM;
    for (size_t e = 0; e < group->n_events; e++)
        events[e] = counts->plan->catalog->events[group->events[e]].code;
    int handle = pmu_linux_tasks_open(counts->tasks, events, group->n_events);
    free(events);
    return handle;
}

size_t task_counts_open(struct task_counts *counts, int *error) {
    size_t n = 0;
    *error = 0;
    for (size_t g = 0; g < counts->plan->n_groups; g++) {
        int handle = counts->groups[g].handle = open_group(counts, &counts->plan->groups[g]);
        n += handle >= 0;
        if (handle < 0 && *error == 0)
            *error = handle;
    }
    return n;
}

// ---- readings ----

// Adds a group's window: as if it had had slots for the share of the time in which it counted.
static void add_window(struct task_counts *counts, unsigned g, uint64_t elapsed_ns, const struct pmu_times *times) {
    struct open_group *group = &counts->groups[g];
    size_t n = counts->plan->groups[g].n_events;
    uint64_t enabled_ns = times->enabled_ns - group->before.enabled_ns,
             running_ns = times->running_ns - group->before.running_ns;
    struct window *window = readings_add(counts->readings, 0, g, n);
    bool all = running_ns >= enabled_ns;
    window->enabled_ns = elapsed_ns;
    if (enabled_ns > 0 && running_ns > 0)
        window->running_ns =
            all ? elapsed_ns : (uint64_t)((double)elapsed_ns * (double)running_ns / (double)enabled_ns) + 1;
    window->result = window_result_of(window);
    if (window->result == WINDOW_CONTENDED) {
        window->enabled_ns = window->running_ns;
        window->result = WINDOW_COMPLETE;
    }
    for (size_t e = 0; e < n; e++)
        window->counts[e] = counts->now[e] - group->counts[e];
    memcpy(group->counts, counts->now, n * sizeof *counts->now);
    group->before = *times;
}

static void add_failure(struct task_counts *counts, unsigned g, int error) {
    struct window *window = readings_add(counts->readings, 0, g, counts->plan->groups[g].n_events);
    window->result = WINDOW_FAILED;
    window->error = error;
}

// How long the tasks have run, by the first group that can be read.
static uint64_t read_time(const struct task_counts *counts) {
    struct pmu_times times;
    for (size_t g = 0; g < counts->plan->n_groups; g++)
        if (counts->groups[g].handle >= 0 && pmu_linux_tasks_read(counts->tasks, counts->groups[g].handle, &times,
                                                                  counts->now, counts->plan->groups[g].n_events) == 0)
            return times.enabled_ns;
    return 0;
}

const struct readings *task_counts_read(struct task_counts *counts) {
    struct readings *readings = counts->readings;
    uint64_t enabled_ns = read_time(counts), elapsed_ns = enabled_ns - counts->enabled_ns;
    if (enabled_ns <= counts->enabled_ns)
        return NULL;
    readings_begin(readings, counts->round++, FIRST_NS + counts->enabled_ns);
    readings->end_ns = FIRST_NS + enabled_ns;
    readings->round_over = readings->no_gaps = true;
    for (unsigned g = 0; g < counts->plan->n_groups; g++) {
        struct pmu_times times;
        int handle = counts->groups[g].handle;
        int r = handle < 0 ? handle
                           : pmu_linux_tasks_read(counts->tasks, handle, &times, counts->now,
                                                  counts->plan->groups[g].n_events);
        if (r < 0)
            add_failure(counts, g, r);
        else
            add_window(counts, g, elapsed_ns, &times);
    }
    counts->enabled_ns = enabled_ns;
    return readings;
}

double task_counts_seconds(const struct task_counts *counts) { return (double)counts->enabled_ns * 1e-9; }
