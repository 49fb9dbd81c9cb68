// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pace.h"
#include "core/tally/plausible.h"

// Every core walks through its own order of the round's entries. All orders have the same length, so all cores reach
// the end of the round at the same edge, where the round's readings are complete. If the caller is late by more than a
// quarter of a slot, all future edges move back by as much, so that no slot is lost; a smaller delay shortens the next
// slot. So cores stay in step.
//
// The sampler opens groups at the pace of collectors/pmu/pace.h. The first round begins when all groups are open; later
// the sampler reopens groups beside the rotation.

static const uint64_t RETRY_NS = UINT64_C(60000000000); // before another try to open an event group

enum { IDLE = -1 }; // as an event group: none

struct core {
    unsigned *cpus; // indexes into the topology
    size_t n_cpus;
    unsigned *order;  // of plan->round
    size_t entry;     // position in order
    unsigned part;    // of the entry's unit
    int group;        // now counting, or IDLE
    uint64_t edge_ns; // end of this event group's slots, without slip
};
struct channel {            // an event group on a CPU
    int handle;             // negative errno: could not be opened, or -ENODEV: its CPU went away
    uint64_t retry_ns;      // if not open: when to try again
    uint64_t read_ns;       // time of the last reading, or of opening
    struct pmu_times times; // totals at the last reading
    uint64_t *counts;
    bool doubtful; // the counts fell (core/tally/plausible.h)
};

struct sampler {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    uint64_t seed;
    struct core *cores;
    unsigned *core_cpus, *orders; // memory of the cores' arrays
    struct channel *channels;     // [cpu][group]
    size_t n_channels;            // 0 until they are made
    size_t n_groups;              // that rotate
    struct standing *standing;    // the others
    size_t to_open;               // the next for this pass of opening; n_channels: the pass is over
    uint64_t *counts, *fresh;     // memory for the channels' counts; for one reading
    struct readings *readings;
    uint64_t now_ns;  // of this step
    uint64_t slip_ns; // delay of this round's edges so far
    bool started, round_over, opening;
    int error, round_error;
    uint64_t calls, interrupts;
};

static struct channel *channel_of(const struct sampler *s, unsigned cpu, int group) {
    return &s->channels[cpu * s->n_groups + (size_t)group];
}

// ---- making ----

static size_t counts_of_cpu(const struct sampler *s) {
    size_t n = 0;
    for (size_t g = 0; g < s->n_groups; g++)
        n += s->plan->groups[g].n_events;
    return n;
}

static void make_cores(struct sampler *s) {
    const struct topology *topology = s->topology;
    unsigned *cpus = s->core_cpus;
    for (unsigned i = 0; i < topology->n_cpus; i++)
        s->cores[topology->cpus[i].core].n_cpus++;
    for (size_t c = 0; c < topology->n_cores; c++) {
        struct core *core = &s->cores[c];
        core->cpus = cpus;
        core->order = s->orders + c * s->plan->n_round;
        core->group = IDLE;
        cpus += core->n_cpus;
        core->n_cpus = 0;
    }
    for (unsigned i = 0; i < topology->n_cpus; i++) {
        struct core *core = &s->cores[topology->cpus[i].core];
        core->cpus[core->n_cpus++] = i;
    }
}

static void make_channels(struct sampler *s) {
    uint64_t *counts = s->counts;
    for (unsigned cpu = 0; cpu < s->topology->n_cpus; cpu++) {
        for (size_t g = 0; g < s->n_groups; g++) {
            *channel_of(s, cpu, (int)g) = (struct channel){.handle = -EBADF, .counts = counts};
            counts += s->plan->groups[g].n_events;
        }
    }
    s->n_channels = s->topology->n_cpus * s->n_groups;
}

int sampler_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, uint64_t seed,
                uint64_t first_round, struct sampler **out) {
    struct sampler *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    *s = (struct sampler){
        .plan = plan, .topology = topology, .pmu = pmu, .seed = seed, .n_groups = plan_n_rotating(plan)};
    size_t n_counts = counts_of_cpu(s);
    s->cores = calloc(topology->n_cores, sizeof *s->cores);
    s->core_cpus = calloc(topology->n_cpus, sizeof *s->core_cpus);
    s->orders = calloc(topology->n_cores * plan->n_round, sizeof *s->orders);
    s->channels = calloc(topology->n_cpus * s->n_groups + 1, sizeof *s->channels);
    s->counts = calloc(topology->n_cpus * n_counts + 1, sizeof *s->counts);
    s->fresh = calloc(n_counts + 1, sizeof *s->fresh);
    s->readings = readings_new(plan, topology);
    s->standing = standing_new(plan, topology, pmu);
    if (!s->standing || !s->cores || !s->core_cpus || !s->orders || !s->channels || !s->counts || !s->fresh ||
        !s->readings) {
        sampler_free(s);
        return -ENOMEM;
    }
    readings_begin(s->readings, first_round, 0);
    make_cores(s);
    make_channels(s);
    *out = s;
    return 0;
}

uint64_t sampler_next_round(const struct sampler *s) { return s->readings->round + s->started; }

struct sampler *sampler_free(struct sampler *s) {
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_channels; i++)
        if (s->channels[i].handle >= 0)
            s->pmu->ops->close(s->pmu, s->channels[i].handle);
    standing_free(s->standing);
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
    channel->read_ns = now_ns;
    channel->times = (struct pmu_times){0};
    channel->doubtful = false;
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
        unsigned cpu = (unsigned)(s->to_open / s->n_groups);
        int group = (int)(s->to_open % s->n_groups);
        if (channel->handle >= 0 || channel->retry_ns > now_ns)
            continue;
        if (opened > 0 && opened + s->plan->groups[group].n_events > PACE_EVENTS)
            return;
        opened += open_channel(s, cpu, group, now_ns);
    }
}

// The CPU went offline: the kernel dissolved the event group for good.
static void lose_channel(struct sampler *s, struct channel *channel) {
    if (channel->handle >= 0)
        s->pmu->ops->close(s->pmu, channel->handle);
    channel->handle = -ENODEV;
}

// Judges a new window, and takes what was read as the base of the next one.
static void settle_window(struct sampler *s, struct channel *channel, struct window *window, struct pmu_times times,
                          size_t n_events) {
    window->result = window_result_of(window);
    plausible_judge(window, s->plan, s->now_ns - channel->read_ns, &channel->doubtful);
    channel->read_ns = s->now_ns;
    channel->times = times;
    memcpy(channel->counts, s->fresh, n_events * sizeof *s->fresh);
}

// Records the event group's counts since its last reading as a window.
static void read_window(struct sampler *s, unsigned cpu, int group, bool running) {
    const struct plan_group *plan_group = &s->plan->groups[group];
    struct channel *channel = channel_of(s, cpu, group);
    struct window *window = readings_add(s->readings, cpu, (unsigned)group, plan_group->n_events);
    struct pmu_times times = {0};
    window->result = WINDOW_FAILED;
    int r = channel->handle;
    if (r >= 0) {
        s->calls++;
        s->interrupts += running;
        r = s->pmu->ops->read(s->pmu, channel->handle, &times, s->fresh, plan_group->n_events);
        if (r >= 0 && plan_group->n_events == 1 && pmu_stands_still(&channel->times, &times))
            r = -ENODEV;
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
    settle_window(s, channel, window, times, plan_group->n_events);
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

// Sets the edge after the current slot and any following slots of the same event group: nothing changes between them.
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

// Disable, enable, read: in this order the new group finds the counters free, and the read interrupts no CPU. All
// siblings finish each step before the next begins: a shared register that one still holds would keep another's new
// group off the counters until a tick.
static void core_change(struct sampler *s, struct core *core, bool round_ends) {
    int from = core->group, to = group_at(s, core);
    for (size_t i = 0; from != to && from != IDLE && i < core->n_cpus; i++)
        toggle(s, core->cpus[i], from, false);
    for (size_t i = 0; from != to && to != IDLE && i < core->n_cpus; i++)
        toggle(s, core->cpus[i], to, true);
    for (size_t i = 0; (from != to || round_ends) && from != IDLE && i < core->n_cpus; i++)
        read_window(s, core->cpus[i], from, from == to);
    core->group = to;
}

// ---- one sampler after another ----

// What a stopped group has counted since its last reading belongs to no round: a sampler that takes it over counts from
// here.
static void rebase_channel(struct sampler *s, unsigned cpu, int group) {
    struct channel *channel = channel_of(s, cpu, group);
    if (channel->handle < 0)
        return;
    s->calls++;
    int r =
        s->pmu->ops->read(s->pmu, channel->handle, &channel->times, channel->counts, s->plan->groups[group].n_events);
    if (r == -ENODEV)
        lose_channel(s, channel);
}

void sampler_stop(struct sampler *s) {
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        struct core *core = &s->cores[c];
        for (size_t i = 0; core->group != IDLE && i < core->n_cpus; i++)
            toggle(s, core->cpus[i], core->group, false);
        for (size_t i = 0; core->group != IDLE && i < core->n_cpus; i++)
            rebase_channel(s, core->cpus[i], core->group);
        core->group = IDLE;
    }
}

static int find_group(const struct sampler *s, const struct plan_group *wanted) {
    for (int g = 0; g < (int)s->n_groups; g++)
        if (plan_group_same(&s->plan->groups[g], wanted))
            return g;
    return IDLE;
}

static void take_channel(struct channel *to, struct channel *from, size_t n_events) {
    uint64_t *counts = to->counts;
    memcpy(counts, from->counts, n_events * sizeof *counts);
    *to = *from;
    to->counts = counts;
    from->handle = -EBADF;
}

void sampler_inherit(struct sampler *s, struct sampler *from) {
    standing_inherit(s->standing, from->standing);
    for (int group = 0; group < (int)s->n_groups; group++) {
        const struct plan_group *wanted = &s->plan->groups[group];
        int old = find_group(from, wanted);
        unsigned before = 0; // CPU numbers ascend in both topologies
        for (unsigned cpu = 0; old != IDLE && cpu < s->topology->n_cpus; cpu++) {
            unsigned id = s->topology->cpus[cpu].id;
            while (before < from->topology->n_cpus && from->topology->cpus[before].id < id)
                before++;
            if (before < from->topology->n_cpus && from->topology->cpus[before].id == id)
                take_channel(channel_of(s, cpu, group), channel_of(from, before, old), wanted->n_events);
        }
    }
}

// In the order of event groups, so that no CPU is interrupted many times in a row.
struct sampler *sampler_release(struct sampler *s, struct closer *closer) {
    if (s)
        standing_release(s->standing, closer);
    for (int group = 0; s && group < (int)s->n_groups; group++) {
        for (unsigned cpu = 0; cpu < s->topology->n_cpus; cpu++) {
            struct channel *channel = channel_of(s, cpu, group);
            if (channel->handle >= 0)
                closer_take(closer, channel->handle, s->plan->groups[group].n_events, false);
            channel->handle = -EBADF;
        }
    }
    return sampler_free(s);
}

// ---- steps ----

static uint64_t first_edge_ns(const struct sampler *s) {
    uint64_t first = UINT64_MAX;
    for (size_t c = 0; c < s->topology->n_cores; c++)
        if (s->cores[c].edge_ns < first)
            first = s->cores[c].edge_ns;
    return first + s->slip_ns;
}

// Changes groups at every edge that is due (two if a slot is very short). True at the end of the round.
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
    s->started = true;
    readings_begin(s->readings, s->readings->round, now_ns);
    standing_start(s->standing, now_ns);
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        core_begin(s, c, s->readings->round, now_ns);
        core_change(s, &s->cores[c], false);
    }
}

// Called when all cores reach the end of the round: closes its last windows and begins the next round at once.
static void end_round(struct sampler *s, uint64_t now_ns) {
    s->slip_ns = 0;
    for (size_t c = 0; c < s->topology->n_cores; c++) {
        core_begin(s, c, s->readings->round + 1, now_ns);
        core_change(s, &s->cores[c], true);
    }
    int r = standing_read(s->standing, now_ns, s->readings);
    if (r < 0)
        note_error(s, r);
    s->to_open = 0;
    s->readings->end_ns = now_ns;
    s->error = s->round_error;
    s->round_error = 0;
    s->round_over = true;
}

// Changes event groups at the edges that are due.
static void rotate(struct sampler *s, uint64_t now_ns) {
    uint64_t due_ns = first_edge_ns(s);
    if (due_ns > now_ns)
        return;
    if (now_ns - due_ns > s->plan->slot_ns / 4)
        s->slip_ns += now_ns - due_ns;
    bool round_ends = false;
    for (size_t c = 0; c < s->topology->n_cores; c++)
        round_ends = core_catch_up(s, &s->cores[c], now_ns) || round_ends;
    if (round_ends)
        end_round(s, now_ns);
}

static uint64_t next_deadline_ns(const struct sampler *s, uint64_t now_ns) {
    uint64_t edge_ns = s->started ? first_edge_ns(s) : UINT64_MAX;
    uint64_t opening_ns = s->opening ? now_ns + PACE_NS : UINT64_MAX;
    return edge_ns < opening_ns ? edge_ns : opening_ns;
}

int sampler_step(struct sampler *s, uint64_t now_ns, uint64_t *deadline_ns) {
    s->pmu->ops->advance(s->pmu, now_ns);
    s->now_ns = now_ns;
    if (s->round_over)
        readings_begin(s->readings, s->readings->round + 1, s->readings->end_ns);
    s->round_over = false;
    if (s->started)
        rotate(s, now_ns);
    open_channels(s, now_ns);
    s->opening = s->to_open < s->n_channels || standing_open(s->standing, now_ns);
    if (!s->started && !s->opening)
        start(s, now_ns);
    *deadline_ns = next_deadline_ns(s, now_ns);
    return s->round_over;
}

bool sampler_is_opening(const struct sampler *s) { return !s->started; }

int sampler_now(const struct sampler *s, size_t core, uint64_t *until_ns) {
    *until_ns = s->cores[core].edge_ns + s->slip_ns;
    return s->cores[core].group;
}

const struct readings *sampler_readings(const struct sampler *s) { return s->readings; }

int sampler_round_error(const struct sampler *s) { return s->error; }

int sampler_open_error(const struct sampler *s, size_t *n_failed) {
    *n_failed = 0;
    int error = s->started ? standing_open_error(s->standing, n_failed) : 0;
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

uint64_t sampler_calls(const struct sampler *s) { return s->calls + standing_calls(s->standing); }

uint64_t sampler_interrupts(const struct sampler *s) { return s->interrupts + standing_interrupts(s->standing); }
