// SPDX-License-Identifier: Apache-2.0
#include "core/tally/readings.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const char *window_result_name(enum window_result result) {
    static const char *const names[WINDOW_RESULT_N] = {"complete", "contended", "starved", "failed", "implausible"};
    return names[result];
}

void readings_note_window(struct readings *readings, const struct window *window) {
    bool counted = window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED;
    readings->n_counted += counted;
    readings->n_missed += !counted;
}

// The largest number of windows in one CPU's round. That of a core that is held goes on over a round's end, so a round
// may begin within one and end with another.
static size_t windows_of_round(const struct plan *plan) { return plan->n_windows + (plan_slots(plan) > 0); }

// The largest number of their counts: every window has all events of its group, and a round of a core that is held may
// have one group twice and lack another.
static size_t counts_of_round(const struct plan *plan) {
    size_t standing = 0, most = 0;
    for (unsigned g = 0; g < plan->n_groups; g++) {
        size_t n = plan->groups[g].n_events;
        if (plan_group_stands(plan, g))
            standing += n;
        else
            most = n > most ? n : most;
    }
    return standing + (plan_slots(plan) + (plan_slots(plan) > 0)) * most;
}

struct readings *readings_new_sized(size_t n_cores, size_t n_windows, size_t n_counts) {
    struct readings *readings = calloc(1, sizeof *readings);
    if (!readings)
        return NULL;
    readings->cores_max = n_cores;
    readings->windows_max = n_windows;
    readings->counts_max = n_counts;
    readings->cores = calloc(readings->cores_max + 1, sizeof *readings->cores);
    readings->windows = calloc(readings->windows_max + 1, sizeof *readings->windows);
    readings->counts = calloc(readings->counts_max + 1, sizeof *readings->counts);
    if (!readings->cores || !readings->windows || !readings->counts)
        return readings_free(readings);
    return readings;
}

struct readings *readings_new(const struct plan *plan, const struct topology *topology) {
    size_t n_cpus = topology->n_cpus;
    return readings_new_sized(topology->n_cores, windows_of_round(plan) * n_cpus, counts_of_round(plan) * n_cpus);
}

struct readings *readings_new_core(const struct plan *plan, size_t n_cpus) {
    return readings_new_sized(0, windows_of_round(plan) * n_cpus, counts_of_round(plan) * n_cpus);
}

struct readings *readings_free(struct readings *readings) {
    if (readings) {
        free(readings->busy_ns);
        free(readings->guest_ns);
        free(readings->made);
        free(readings->counts);
        free(readings->windows);
        free(readings->cores);
        free(readings);
    }
    return NULL;
}

void readings_begin(struct readings *readings, uint64_t round, uint64_t start_ns) {
    readings->round = round;
    readings->start_ns = readings->end_ns = start_ns;
    readings->n_cores = readings->n_windows = readings->n_counts = 0;
    readings->n_counted = readings->n_missed = 0;
    readings->by_core = readings->guests_known = readings->busy_known = readings->no_gaps = false;
    readings->round_over = true;
}

uint64_t *readings_guests(struct readings *readings, size_t n_cpus) {
    if (!readings->guest_ns)
        readings->guest_ns = calloc(n_cpus + 1, sizeof *readings->guest_ns);
    readings->n_guests = n_cpus;
    return readings->guest_ns;
}

uint64_t *readings_busy(struct readings *readings, size_t n_cpus) {
    if (!readings->busy_ns)
        readings->busy_ns = calloc(n_cpus + 1, sizeof *readings->busy_ns);
    readings->n_busy = n_cpus;
    return readings->busy_ns;
}

void readings_add_core(struct readings *readings, const struct core_round *round) {
    assert(readings->n_cores < readings->cores_max);
    size_t at = readings->n_cores++;
    for (; at > 0 && readings->cores[at - 1].core > round->core; at--)
        readings->cores[at] = readings->cores[at - 1];
    readings->cores[at] = *round;
    readings->by_core = true;
}

void readings_append(struct readings *readings, const struct readings *from) {
    for (size_t i = 0; i < from->n_windows; i++) {
        const struct window *window = &from->windows[i];
        const uint64_t *end = i + 1 < from->n_windows ? window[1].counts : from->counts + from->n_counts;
        size_t n = (size_t)(end - window->counts);
        struct window *to = readings_add(readings, window->cpu, window->group, n);
        uint64_t *counts = to->counts;
        *to = *window;
        to->counts = counts;
        memcpy(counts, window->counts, n * sizeof *counts);
    }
}

struct window *readings_add(struct readings *readings, unsigned cpu, unsigned group, size_t n_counts) {
    assert(readings->n_windows < readings->windows_max);
    assert(readings->n_counts + n_counts <= readings->counts_max);
    struct window *window = &readings->windows[readings->n_windows++];
    *window = (struct window){.cpu = cpu, .group = group, .counts = readings->counts + readings->n_counts};
    memset(window->counts, 0, n_counts * sizeof *window->counts);
    readings->n_counts += n_counts;
    return window;
}
