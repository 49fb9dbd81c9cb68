// SPDX-License-Identifier: Apache-2.0
#include "collectors/sampler.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Every core walks through its own order of the round's entries. All orders are as long, so all cores reach the end of
// the round at the same edge, and there the readings of the round are complete. When the caller comes late, all edges
// still to come move back by as much: a slot is never shorter than planned, and cores stay in step.

enum { IDLE = -1 }; // as an event group: none

struct core {
    unsigned *cpus; // indexes into the topology
    size_t n_cpus;
    unsigned *order;  // of plan->round
    size_t entry;     // position in order
    unsigned part;    // of the entry's unit
    int group;        // that is counting, or IDLE
    uint64_t edge_ns; // where this event group's slots end, without slip
};

struct channel {            // an event group on a CPU
    int handle;             // negative errno: could not be opened
    struct pmu_times times; // totals at the last reading
    uint64_t *counts;
};

struct sampler {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    uint64_t seed;
    struct core *cores;
    unsigned *core_cpus, *orders; // memory of the cores' arrays
    struct channel *channels;     // [cpu][group]
    uint64_t *counts, *fresh;     // memory of the channels' counts; of one reading
    struct readings *readings;
    uint64_t slip_ns; // by how much edges have moved in this round
    bool opened, round_over;
    int error, round_error;
};

static struct channel *channel_of(const struct sampler *s, unsigned cpu, int group) {
    return &s->channels[cpu * s->plan->n_groups + (size_t)group];
}

// ---- making ----

static size_t counts_of_cpu(const struct plan *plan) {
    size_t n = 0;
    for (size_t g = 0; g < plan->n_groups; g++)
        n += plan->groups[g].n_events;
    return n;
}

static void make_cores(struct sampler *s) {
    const struct topology *topology = s->topology;
    unsigned *cpus = s->core_cpus;
    for (size_t c = 0; c < topology->n_cores; c++) {
        struct core *core = &s->cores[c];
        core->cpus = cpus;
        core->order = s->orders + c * s->plan->n_round;
        core->group = IDLE;
        for (unsigned i = 0; i < topology->n_cpus; i++)
            if (topology->cpus[i].core == c)
                core->cpus[core->n_cpus++] = i;
        cpus += core->n_cpus;
    }
}

static void make_channels(struct sampler *s) {
    uint64_t *counts = s->counts;
    for (unsigned cpu = 0; cpu < s->topology->n_cpus; cpu++) {
        for (size_t g = 0; g < s->plan->n_groups; g++) {
            *channel_of(s, cpu, (int)g) = (struct channel){.handle = -EBADF, .counts = counts};
            counts += s->plan->groups[g].n_events;
        }
    }
}

int sampler_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, uint64_t seed,
                struct sampler **out) {
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    size_t n_counts = counts_of_cpu(plan);
    *s = (struct sampler){.plan = plan, .topology = topology, .pmu = pmu, .seed = seed};
    s->cores = calloc(topology->n_cores, sizeof *s->cores);
    s->core_cpus = calloc(topology->n_cpus, sizeof *s->core_cpus);
    s->orders = calloc(topology->n_cores * plan->n_round, sizeof *s->orders);
    s->channels = calloc(topology->n_cpus * plan->n_groups + 1, sizeof *s->channels);
    s->counts = calloc(topology->n_cpus * n_counts + 1, sizeof *s->counts);
    s->fresh = calloc(n_counts + 1, sizeof *s->fresh);
    s->readings = readings_new(plan, topology);
    if (!s->cores || !s->core_cpus || !s->orders || !s->channels || !s->counts || !s->fresh || !s->readings) {
        sampler_free(s);
        return -ENOMEM;
    }
    make_cores(s);
    make_channels(s);
    *out = s;
    return 0;
}

struct sampler *sampler_free(struct sampler *s) {
    if (!s)
        return NULL;
    if (s->opened)
        for (size_t i = 0; i < s->topology->n_cpus * s->plan->n_groups; i++)
            if (s->channels[i].handle >= 0)
                s->pmu->ops->close(s->pmu, s->channels[i].handle);
    readings_free(s->readings);
    free(s->fresh);
    free(s->counts);
    free(s->channels);
    free(s->orders);
    free(s->core_cpus);
    free(s->cores);
    free(s);
    return NULL;
}

// ---- the counters of one CPU ----

static void note_error(struct sampler *s, int error) { s->round_error = error; }

static void open_channels(struct sampler *s) {
    uint64_t configs[PLAN_GROUP_EVENTS_MAX];
    for (unsigned cpu = 0; cpu < s->topology->n_cpus; cpu++) {
        for (size_t g = 0; g < s->plan->n_groups; g++) {
            const struct plan_group *group = &s->plan->groups[g];
            for (size_t e = 0; e < group->n_events; e++)
                configs[e] = s->plan->catalog->events[group->events[e]].config;
            channel_of(s, cpu, (int)g)->handle =
                s->pmu->ops->open(s->pmu, s->topology->cpus[cpu].id, configs, group->n_events);
        }
    }
    s->opened = true;
}

static enum window_result result_of(const struct window *window) {
    if (window->enabled_ns == 0)
        return WINDOW_FAILED;
    if (window->running_ns == 0)
        return WINDOW_STARVED;
    return window->running_ns < window->enabled_ns ? WINDOW_CONTENDED : WINDOW_COMPLETE;
}

// Takes what the event group has counted since its last reading as a window.
static void read_window(struct sampler *s, unsigned cpu, int group) {
    const struct plan_group *plan_group = &s->plan->groups[group];
    struct channel *channel = channel_of(s, cpu, group);
    struct window *window = readings_add(s->readings, cpu, (unsigned)group, plan_group->n_events);
    struct pmu_times times = {0};
    window->result = WINDOW_FAILED;
    int r = channel->handle;
    if (r >= 0)
        r = s->pmu->ops->read(s->pmu, channel->handle, &times, s->fresh, plan_group->n_events);
    if (r < 0) {
        note_error(s, r);
        return;
    }
    window->enabled_ns = times.enabled_ns - channel->times.enabled_ns;
    window->running_ns = times.running_ns - channel->times.running_ns;
    for (size_t e = 0; e < plan_group->n_events; e++)
        window->counts[e] = s->fresh[e] - channel->counts[e];
    channel->times = times;
    memcpy(channel->counts, s->fresh, plan_group->n_events * sizeof *s->fresh);
    window->result = result_of(window);
}

static void toggle(struct sampler *s, unsigned cpu, int group, bool enabled) {
    struct channel *channel = channel_of(s, cpu, group);
    int r = channel->handle < 0 ? 0 : s->pmu->ops->enable(s->pmu, channel->handle, enabled);
    if (r < 0)
        note_error(s, r);
}

// Disable, enable, read: in this order the new group finds the counters free, and the read interrupts nobody.
static void change_group(struct sampler *s, unsigned cpu, int from, int to, bool round_ends) {
    if (from == to && !round_ends)
        return;
    if (from != to && from != IDLE)
        toggle(s, cpu, from, false);
    if (from != to && to != IDLE)
        toggle(s, cpu, to, true);
    if (from != IDLE)
        read_window(s, cpu, from);
}

// ---- a core's walk through the round ----

static int group_at(const struct sampler *s, const struct core *core) {
    unsigned unit = s->plan->round[core->order[core->entry]];
    return unit == s->plan->n_units ? IDLE : (int)(s->plan->units[unit].first_group + core->part);
}

// Moves to the next slot; false at the end of the round.
static bool core_next(const struct sampler *s, struct core *core) {
    unsigned unit = s->plan->round[core->order[core->entry]];
    if (unit < s->plan->n_units && core->part + 1 < s->plan->units[unit].n_groups) {
        core->part++;
        return true;
    }
    core->part = 0;
    return ++core->entry < s->plan->n_round;
}

static uint64_t slot_ns(const struct sampler *s, const struct core *core) {
    return group_at(s, core) == IDLE ? s->plan->idle_ns : s->plan->slot_ns;
}

// Sets the edge behind the present slot, and behind all that follow with the same event group: nothing changes there.
static void core_set_edge(const struct sampler *s, struct core *core, uint64_t begins_ns) {
    core->edge_ns = begins_ns + slot_ns(s, core);
    for (struct core next = *core; core_next(s, &next) && group_at(s, &next) == group_at(s, core); *core = next)
        next.edge_ns = core->edge_ns + slot_ns(s, &next);
}

static void core_begin(struct sampler *s, size_t c, uint64_t round, uint64_t start_ns) {
    struct core *core = &s->cores[c];
    plan_order(s->plan, s->seed, (unsigned)c, round, core->order);
    core->entry = 0;
    core->part = 0;
    core_set_edge(s, core, start_ns);
}

static void core_change(struct sampler *s, struct core *core, bool round_ends) {
    int to = group_at(s, core);
    for (size_t i = 0; i < core->n_cpus; i++)
        change_group(s, core->cpus[i], core->group, to, round_ends);
    core->group = to;
}

// ---- steps ----

static uint64_t first_edge_ns(const struct sampler *s) {
    uint64_t first = UINT64_MAX;
    for (size_t c = 0; c < s->topology->n_cores; c++)
        if (s->cores[c].edge_ns < first)
            first = s->cores[c].edge_ns;
    return first + s->slip_ns;
}

// Changes at every edge that is due (two where one slot is very short). True at the end of the round.
static bool core_catch_up(struct sampler *s, struct core *core, uint64_t now_ns) {
    while (core->edge_ns + s->slip_ns <= now_ns) {
        if (!core_next(s, core))
            return true;
        core_set_edge(s, core, core->edge_ns);
        core_change(s, core, false);
    }
    return false;
}

static void start(struct sampler *s, uint64_t now_ns) {
    open_channels(s);
    readings_begin(s->readings, 0, now_ns);
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        core_begin(s, c, 0, now_ns);
        core_change(s, &s->cores[c], false);
    }
}

// All cores are at the end of the round: closes its last windows, and the next round begins at once.
static void end_round(struct sampler *s, uint64_t now_ns) {
    s->slip_ns = 0;
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        core_begin(s, c, s->readings->round + 1, now_ns);
        core_change(s, &s->cores[c], true);
    }
    s->readings->end_ns = now_ns;
    s->error = s->round_error;
    s->round_error = 0;
    s->round_over = true;
}

int sampler_step(struct sampler *s, uint64_t now_ns, uint64_t *deadline_ns) {
    s->pmu->ops->advance(s->pmu, now_ns);
    if (s->round_over)
        readings_begin(s->readings, s->readings->round + 1, s->readings->end_ns);
    s->round_over = false;
    if (!s->opened)
        start(s, now_ns);
    uint64_t due_ns = first_edge_ns(s);
    if (due_ns <= now_ns) {
        if (now_ns - due_ns > s->plan->slot_ns / 4)
            s->slip_ns += now_ns - due_ns;
        bool round_ends = false;
        for (size_t c = 0; c < s->topology->n_cores; c++)
            round_ends = core_catch_up(s, &s->cores[c], now_ns) || round_ends;
        if (round_ends)
            end_round(s, now_ns);
    }
    *deadline_ns = first_edge_ns(s);
    return s->round_over;
}

const struct readings *sampler_readings(const struct sampler *s) { return s->readings; }

int sampler_round_error(const struct sampler *s) { return s->error; }

int sampler_open_error(const struct sampler *s, size_t *n_failed) {
    int error = 0;
    *n_failed = 0;
    for (size_t i = 0; s->opened && i < s->topology->n_cpus * s->plan->n_groups; i++) {
        if (s->channels[i].handle >= 0)
            continue;
        error = error ? error : s->channels[i].handle;
        ++*n_failed;
    }
    return error;
}
