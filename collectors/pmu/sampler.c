// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/sampler_core.h"

// All cores see the same edges between ticks, so that one step changes them all. An edge with an idle piece is two: the
// old groups stop at its beginning and are read, the new ones start at its end. If the caller is late by more than a
// quarter of a slot, all future edges move back by as much, so that no slot is lost; a smaller delay shortens the next
// slot.
//
// Opening an event on another CPU costs up to 18 us, so a thousand CPUs take seconds. The sampler spreads opening over
// steps of about a millisecond of work. The first round begins when all groups are open; later the sampler reopens
// groups beside the rotation.

static const uint64_t RETRY_NS = UINT64_C(60000000000); // before another try to open an event group
static const uint64_t OPENING_NS = 1000000;             // between two steps that open

enum { OPENED_A_STEP = 64 }; // events
struct channel {             // an event group on a CPU
    int handle;              // negative errno: could not be opened, or -ENODEV: its CPU went away
    uint64_t retry_ns;       // if not open: when to try again
    struct pmu_times times;  // totals at the last reading
    uint64_t *counts;
};

struct sampler {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    struct busy_clock *busy_clock; // NULL: not known
    struct schedule schedule;
    struct sampler_core *cores;
    unsigned *core_cpus, *orders; // memory of the cores' arrays
    uint64_t *busy_ns;            // [cpu]: at the last edge
    bool busy_known;              // then
    struct channel *channels;     // [cpu][group]
    size_t n_channels;            // 0 until they are made
    size_t to_open;               // the next for this pass of opening; n_channels: the pass is over
    uint64_t *counts, *fresh;     // memory for the channels' counts; for one reading
    struct readings *readings;
    uint64_t tick;              // counted from the beginning of round 0
    uint64_t edge_ns, piece_ns; // the next edge; the idle piece that ends there, 0: a tick ends
    bool started, readings_over;
    int error, round_error;
    uint64_t calls, interrupts;
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

static int make_cores(struct sampler *s) {
    const struct topology *topology = s->topology;
    unsigned *cpus = s->core_cpus;
    for (size_t c = 0; c < topology->n_cores; c++)
        s->cores[c] = (struct sampler_core){.order = s->orders + c * s->plan->n_round, .group = SAMPLER_IDLE};
    for (unsigned i = 0; i < topology->n_cpus; i++)
        s->cores[topology->cpus[i].core].n_cpus++;
    for (size_t c = 0; c < topology->n_cores; c++) {
        s->cores[c].cpus = cpus;
        cpus += s->cores[c].n_cpus;
        s->cores[c].windows = readings_new_core(s->plan, s->cores[c].n_cpus);
        s->cores[c].n_cpus = 0;
        if (!s->cores[c].windows)
            return -ENOMEM;
    }
    for (unsigned i = 0; i < topology->n_cpus; i++) {
        struct sampler_core *core = &s->cores[topology->cpus[i].core];
        core->cpus[core->n_cpus++] = i;
    }
    return 0;
}

static void make_channels(struct sampler *s) {
    uint64_t *counts = s->counts;
    for (unsigned cpu = 0; cpu < s->topology->n_cpus; cpu++) {
        for (size_t g = 0; g < s->plan->n_groups; g++) {
            *channel_of(s, cpu, (int)g) = (struct channel){.handle = -EBADF, .counts = counts};
            counts += s->plan->groups[g].n_events;
        }
    }
    s->n_channels = s->topology->n_cpus * s->plan->n_groups;
}

int sampler_new(const struct sampler_request *request, struct sampler **out) {
    const struct plan *plan = request->plan;
    const struct topology *topology = request->topology;
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    size_t n_counts = counts_of_cpu(plan);
    *s = (struct sampler){.plan = plan, .topology = topology, .pmu = request->pmu};
    s->schedule = schedule_of(plan, topology->n_cores, request->interval_ns, request->seed);
    s->tick = request->first_round * s->schedule.n_ticks;
    if (schedule_may_hold(&s->schedule) && topology->n_cores >= SAMPLER_BUSY_CLOCK_CORES)
        s->busy_clock = request->busy_clock;
    s->cores = calloc(topology->n_cores, sizeof *s->cores);
    s->core_cpus = calloc(topology->n_cpus, sizeof *s->core_cpus);
    s->orders = calloc(topology->n_cores * plan->n_round, sizeof *s->orders);
    s->busy_ns = calloc(2 * topology->n_cpus, sizeof *s->busy_ns);
    s->channels = calloc(topology->n_cpus * plan->n_groups + 1, sizeof *s->channels);
    s->counts = calloc(topology->n_cpus * n_counts + 1, sizeof *s->counts);
    s->fresh = calloc(n_counts + 1, sizeof *s->fresh);
    s->readings = readings_new(plan, topology);
    if (!s->cores || !s->core_cpus || !s->orders || !s->busy_ns || !s->channels || !s->counts || !s->fresh ||
        !s->readings || make_cores(s) < 0) {
        sampler_free(s);
        return -ENOMEM;
    }
    make_channels(s);
    *out = s;
    return 0;
}

static uint64_t round_of(const struct sampler *s) { return s->tick / s->schedule.n_ticks; }

uint64_t sampler_next_round(const struct sampler *s) { return round_of(s) + s->started; }

struct sampler *sampler_free(struct sampler *s) {
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_channels; i++)
        if (s->channels[i].handle >= 0)
            s->pmu->ops->close(s->pmu, s->channels[i].handle);
    readings_free(s->readings);
    free(s->fresh);
    free(s->counts);
    free(s->channels);
    free(s->busy_ns);
    free(s->orders);
    free(s->core_cpus);
    for (size_t c = 0; s->cores && c < s->topology->n_cores; c++)
        readings_free(s->cores[c].windows);
    free(s->cores);
    free(s);
    return NULL;
}

// ---- the counters of one CPU ----

static void note_error(struct sampler *s, int error) { s->round_error = error; }

static void toggle(struct sampler *s, unsigned cpu, int group, bool enabled) {
    struct channel *channel = channel_of(s, cpu, group);
    if (channel->handle < 0)
        return;
    s->calls++;
    s->interrupts++;
    int r = s->pmu->ops->enable(s->pmu, channel->handle, enabled);
    if (r < 0)
        note_error(s, r);
}

// Opens an event group on a CPU, and starts it at once if its slot is now. Returns the number of events it tried to
// open.
static size_t open_channel(struct sampler *s, unsigned cpu, int group, uint64_t now_ns) {
    const struct plan_group *plan_group = &s->plan->groups[group];
    struct channel *channel = channel_of(s, cpu, group);
    struct pmu_event events[PLAN_GROUP_EVENTS_MAX];
    for (size_t e = 0; e < plan_group->n_events; e++)
        events[e] = s->plan->catalog->events[plan_group->events[e]].code;
    channel->handle = s->pmu->ops->open(s->pmu, s->topology->cpus[cpu].id, events, plan_group->n_events);
    channel->times = (struct pmu_times){0};
    memset(channel->counts, 0, plan_group->n_events * sizeof *channel->counts);
    size_t n = channel->handle == -ENODEV ? 1 : plan_group->n_events; // an offline CPU refuses the first
    s->calls += n;
    if (channel->handle < 0)
        channel->retry_ns = channel->handle == -ENODEV ? 0 : now_ns + RETRY_NS;
    else if (s->cores[s->topology->cpus[cpu].core].group == group)
        toggle(s, cpu, group, true);
    return n;
}

// Opens the channels that are due, as many as one step may.
static void open_channels(struct sampler *s, uint64_t now_ns) {
    for (size_t opened = 0; s->to_open < s->n_channels; s->to_open++) {
        const struct channel *channel = &s->channels[s->to_open];
        unsigned cpu = (unsigned)(s->to_open / s->plan->n_groups);
        int group = (int)(s->to_open % s->plan->n_groups);
        if (channel->handle >= 0 || channel->retry_ns > now_ns)
            continue;
        if (opened > 0 && opened + s->plan->groups[group].n_events > OPENED_A_STEP)
            return;
        opened += open_channel(s, cpu, group, now_ns);
    }
}

static enum window_result result_of(const struct window *window) {
    if (window->enabled_ns == 0)
        return WINDOW_FAILED;
    if (window->running_ns == 0)
        return WINDOW_STARVED;
    return window->running_ns < window->enabled_ns ? WINDOW_CONTENDED : WINDOW_COMPLETE;
}

// The CPU went offline: the kernel dissolved the event group for good.
static void lose_channel(struct sampler *s, struct channel *channel) {
    if (channel->handle >= 0)
        s->pmu->ops->close(s->pmu, channel->handle);
    channel->handle = -ENODEV;
}

// Records the event group's counts since its last reading as a window.
static void read_window(struct sampler *s, const struct sampler_core *core, unsigned cpu, int group, bool running) {
    const struct plan_group *plan_group = &s->plan->groups[group];
    struct channel *channel = channel_of(s, cpu, group);
    struct window *window = readings_add(core->windows, cpu, (unsigned)group, plan_group->n_events);
    struct pmu_times times = {0};
    window->result = WINDOW_FAILED;
    int r = channel->handle;
    if (r >= 0) {
        s->calls++;
        s->interrupts += running;
        r = s->pmu->ops->read(s->pmu, channel->handle, &times, s->fresh, plan_group->n_events);
    }
    if (r < 0) {
        note_error(s, r);
        window->error = r;
        if (r == -ENODEV)
            lose_channel(s, channel);
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

// ---- a core at an edge ----

// Siblings take each step together: a shared register that one still holds would keep another's new group off the
// counters until a tick of the kernel.
static void stop_core(struct sampler *s, const struct sampler_core *core) {
    for (size_t i = 0; core->group != SAMPLER_IDLE && i < core->n_cpus; i++)
        toggle(s, core->cpus[i], core->group, false);
}

static void start_core(struct sampler *s, struct sampler_core *core, int group) {
    core->group = group;
    for (size_t i = 0; group != SAMPLER_IDLE && i < core->n_cpus; i++)
        toggle(s, core->cpus[i], group, true);
}

// `running`: the group still counts.
static void read_core(struct sampler *s, const struct sampler_core *core, int group, bool running) {
    for (size_t i = 0; group != SAMPLER_IDLE && i < core->n_cpus; i++)
        read_window(s, core, core->cpus[i], group, running);
}

// Disable, enable, read: in this order the new group finds the counters free, and the read interrupts no CPU.
static void change_core(struct sampler *s, struct sampler_core *core, int to) {
    int from = core->group;
    stop_core(s, core);
    start_core(s, core, to);
    read_core(s, core, from, false);
}

// Goes on to the core's next slot, at once or after an idle piece.
static void advance_core(struct sampler *s, struct sampler_core *core, bool piece, bool round_ends) {
    sampler_core_next(core, s->plan);
    int to = piece ? SAMPLER_IDLE : sampler_core_group(core, s->plan);
    core->in_piece = piece;
    if (to != core->group)
        change_core(s, core, to);
    else if (round_ends)
        read_core(s, core, to, true);
}

static void end_core_round(struct sampler *s, size_t c, uint64_t now_ns) {
    struct sampler_core *core = &s->cores[c];
    struct core_round round = sampler_core_end_round(core, c, now_ns);
    readings_add_core(s->readings, &round);
    readings_append(s->readings, core->windows);
    readings_begin(core->windows, 0, now_ns);
}

// A core that is held is left alone: its window goes on into the next round.
static void pass_core(struct sampler *s, size_t c, bool busy_known, bool piece, uint64_t now_ns) {
    struct sampler_core *core = &s->cores[c];
    bool ends = schedule_cohort_tick(&s->schedule, schedule_cohort(&s->schedule, c)) == s->tick % s->schedule.n_ticks;
    bool begins = ends && !core->begun;
    if (!core->begun && !begins)
        return;
    bool held = sampler_core_end_tick(core, &s->schedule, c, busy_known && !begins, s->tick, now_ns);
    if (ends)
        sampler_core_take_order(core, &s->schedule, c, round_of(s));
    if (!held)
        advance_core(s, core, piece, ends);
    if (begins)
        core->start_ns = now_ns;
    else if (ends)
        end_core_round(s, c, now_ns);
    core->begun = true;
}

// ---- edges ----

// Reads how long each core was busy since the last tick began; siblings are busy together at best.
static bool read_busy_clock(struct sampler *s, uint64_t piece_ns, uint64_t now_ns) {
    size_t n = s->topology->n_cpus;
    uint64_t *before = s->busy_ns, *now = s->busy_ns + n;
    bool known = s->busy_clock && s->busy_clock->read(s->busy_clock, s->topology, now_ns, now);
    for (size_t c = 0; known && s->busy_known && c < s->topology->n_cores; c++) {
        struct sampler_core *core = &s->cores[c];
        uint64_t busy_ns = 0;
        for (size_t i = 0; i < core->n_cpus; i++) {
            unsigned cpu = core->cpus[i];
            uint64_t of_cpu_ns = now[cpu] > before[cpu] ? now[cpu] - before[cpu] : 0;
            busy_ns = of_cpu_ns > busy_ns ? of_cpu_ns : busy_ns;
        }
        sampler_core_note_busy(core, busy_ns, piece_ns, now_ns);
    }
    if (known)
        memcpy(before, now, n * sizeof *now);
    bool since = known && s->busy_known;
    s->busy_known = known;
    return since;
}

static void end_readings(struct sampler *s, uint64_t now_ns) {
    s->to_open = 0;
    s->readings->round = (s->tick - 1) / s->schedule.n_ticks;
    s->readings->end_ns = now_ns;
    s->readings->round_over = s->tick % s->schedule.n_ticks == 0;
    s->error = s->round_error;
    s->round_error = 0;
    s->readings_over = true;
}

// Every core goes on to its next slot, at once or after the idle piece that begins now.
static void pass_cores(struct sampler *s, bool busy_known, uint64_t now_ns) {
    s->piece_ns = schedule_piece_ns(&s->schedule, s->tick);
    for (size_t c = 0; c < s->topology->n_cores; c++)
        pass_core(s, c, busy_known, s->piece_ns > 0, now_ns);
}

static void end_tick(struct sampler *s, uint64_t now_ns) {
    bool busy_known = read_busy_clock(s, schedule_piece_ns(&s->schedule, s->tick), now_ns);
    s->tick++;
    pass_cores(s, busy_known, now_ns);
    if (schedule_cohort_begins(&s->schedule, s->tick))
        end_readings(s, now_ns);
}

static void end_piece(struct sampler *s, uint64_t now_ns) {
    s->piece_ns = 0;
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        struct sampler_core *core = &s->cores[c];
        if (!core->in_piece)
            continue;
        core->in_piece = false;
        core->tick_ns = now_ns;
        start_core(s, core, sampler_core_group(core, s->plan));
    }
}

static void start(struct sampler *s, uint64_t now_ns) {
    s->started = true;
    readings_begin(s->readings, round_of(s), now_ns);
    s->readings->by_core = true;
    pass_cores(s, false, now_ns);
    s->edge_ns = now_ns + (s->piece_ns > 0 ? s->piece_ns : s->schedule.tick_ns);
}

// Does what is due at the next edge, which is over.
static void pass_edge(struct sampler *s, uint64_t now_ns) {
    if (now_ns - s->edge_ns > s->plan->slot_ns / 4)
        s->edge_ns = now_ns;
    if (s->piece_ns > 0)
        end_piece(s, now_ns);
    else
        end_tick(s, now_ns);
    s->edge_ns += s->piece_ns > 0 ? s->piece_ns : s->schedule.tick_ns;
}

// ---- steps ----

static uint64_t next_deadline_ns(const struct sampler *s, uint64_t now_ns) {
    uint64_t edge_ns = s->started ? s->edge_ns : UINT64_MAX;
    uint64_t opening_ns = s->to_open < s->n_channels ? now_ns + OPENING_NS : UINT64_MAX;
    return edge_ns < opening_ns ? edge_ns : opening_ns;
}

int sampler_step(struct sampler *s, uint64_t now_ns, uint64_t *deadline_ns) {
    s->pmu->ops->advance(s->pmu, now_ns);
    if (s->readings_over) {
        readings_begin(s->readings, round_of(s), s->readings->end_ns);
        s->readings->by_core = true;
    }
    s->readings_over = false;
    while (s->started && s->edge_ns <= now_ns && !(s->readings_over && s->piece_ns == 0))
        pass_edge(s, now_ns);
    open_channels(s, now_ns);
    if (!s->started && s->to_open == s->n_channels)
        start(s, now_ns);
    *deadline_ns = next_deadline_ns(s, now_ns);
    return s->readings_over;
}

const struct readings *sampler_readings(const struct sampler *s) { return s->readings; }

int sampler_round_error(const struct sampler *s) { return s->error; }

int sampler_open_error(const struct sampler *s, size_t *n_failed) {
    int error = 0;
    *n_failed = 0;
    for (size_t i = 0; s->started && i < s->n_channels; i++) {
        int handle = s->channels[i].handle;
        if (handle >= 0)
            continue;
        if (error == 0 || error == -ENODEV)
            error = handle;
        ++*n_failed;
    }
    return error;
}

uint64_t sampler_calls(const struct sampler *s) { return s->calls; }

uint64_t sampler_interrupts(const struct sampler *s) { return s->interrupts; }
