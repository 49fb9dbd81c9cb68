// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/channels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pace.h"
#include "core/tally/plausible.h"
#include "core/uncore/uncore_most.h"

static const uint64_t RETRY_NS = UINT64_C(60000000000); // before another try to open an event group

struct channel {            // an event group on a CPU
    int handle;             // negative errno: could not be opened, or -ENODEV: its CPU went away
    bool started;           // it counts if it is open, or as soon as it is
    uint64_t retry_ns;      // if not open: when to try again
    uint64_t since_ns;      // time of the last reading, or of the first start
    struct pmu_times times; // totals at the last reading
    uint64_t *counts;
    bool doubtful; // the counts fell (core/tally/plausible.h)
};

struct channels {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    struct channel *channels; // [cpu][group]
    size_t n_channels;        // 0 until they are made
    size_t n_groups;          // of the plan
    size_t to_open;           // the next for this pass of opening; n_channels: the pass is over
    uint64_t *counts, *fresh; // memory for the channels' counts; for one reading
    double *most;             // [socket][event of all groups]: see plausible_judge; NULL: these are no boxes
    uint64_t now_ns;          // of this step
    int error;
    uint64_t calls, interrupts;
    uint64_t others_calls; // pmu.more_calls before these channels were made
};

static struct channel *channel_of(const struct channels *c, unsigned cpu, unsigned group) {
    return &c->channels[cpu * c->n_groups + group];
}

// ---- making ----

static size_t counts_of_cpu(const struct channels *c) {
    size_t n = 0;
    for (size_t g = 0; g < c->n_groups; g++)
        n += c->plan->groups[g].n_events;
    return n;
}

static void make_channels(struct channels *c) {
    uint64_t *counts = c->counts;
    for (unsigned cpu = 0; cpu < c->topology->n_cpus; cpu++) {
        for (unsigned g = 0; g < c->n_groups; g++) {
            *channel_of(c, cpu, g) = (struct channel){.handle = -EBADF, .counts = counts};
            counts += c->plan->groups[g].n_events;
        }
    }
    c->n_channels = c->topology->n_cpus * c->n_groups;
}

// How much boxes can count, which hangs on their socket.
static bool make_most(struct channels *c, size_t n_counts) {
    double *most = c->most = calloc(c->topology->n_sockets * n_counts + 1, sizeof *c->most);
    for (size_t s = 0; most && s < c->topology->n_sockets; s++)
        for (size_t g = 0; g < c->n_groups; g++)
            for (size_t e = 0; e < c->plan->groups[g].n_events; e++)
                *most++ = uncore_most(c->plan->catalog, c->plan->groups[g].events[e], &c->topology->sockets[s]);
    return most;
}

static const double *most_of(const struct channels *c, const struct window *window) {
    size_t before = 0;
    for (size_t g = 0; g < window->group; g++)
        before += c->plan->groups[g].n_events;
    return c->most ? c->most + c->topology->cpus[window->cpu].socket * counts_of_cpu(c) + before : NULL;
}

struct channels *channels_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu) {
    struct channels *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct channels){
        .plan = plan, .topology = topology, .pmu = pmu, .n_groups = plan->n_groups, .others_calls = pmu->more_calls};
    size_t n_counts = counts_of_cpu(c);
    c->channels = calloc(topology->n_cpus * c->n_groups + 1, sizeof *c->channels);
    c->counts = calloc(topology->n_cpus * n_counts + 1, sizeof *c->counts);
    c->fresh = calloc(n_counts + 1, sizeof *c->fresh);
    if (!c->channels || !c->counts || !c->fresh || (topology->boxes && !make_most(c, n_counts)))
        return channels_free(c);
    make_channels(c);
    return c;
}

struct channels *channels_free(struct channels *c) {
    if (!c)
        return NULL;
    for (size_t i = 0; i < c->n_channels; i++)
        if (c->channels[i].handle >= 0)
            c->pmu->ops->close(c->pmu, c->channels[i].handle);
    free(c->most);
    free(c->fresh);
    free(c->counts);
    free(c->channels);
    free(c);
    return NULL;
}

// ---- one plan's after another's ----

// The other channels' same group, or -1. One that rotates is none that counts all the time.
static int find_group(const struct channels *c, const struct plan_group *wanted, bool rotates) {
    size_t n_rotating = plan_n_rotating(c->plan);
    for (size_t g = 0; g < c->n_groups; g++)
        if ((g < n_rotating) == rotates && plan_group_same(&c->plan->groups[g], wanted))
            return (int)g;
    return -1;
}

static void take_channel(struct channel *to, struct channel *from, size_t n_events) {
    uint64_t *counts = to->counts;
    memcpy(counts, from->counts, n_events * sizeof *counts);
    *to = *from;
    to->counts = counts;
    from->handle = -EBADF;
}

void channels_inherit(struct channels *c, struct channels *from) {
    for (unsigned group = 0; group < c->n_groups; group++) {
        const struct plan_group *wanted = &c->plan->groups[group];
        int old = find_group(from, wanted, group < plan_n_rotating(c->plan));
        unsigned before = 0; // CPU numbers ascend in both topologies
        for (unsigned cpu = 0; old >= 0 && cpu < c->topology->n_cpus; cpu++) {
            unsigned id = c->topology->cpus[cpu].id;
            while (before < from->topology->n_cpus && from->topology->cpus[before].id < id)
                before++;
            if (before < from->topology->n_cpus && from->topology->cpus[before].id == id)
                take_channel(channel_of(c, cpu, group), channel_of(from, before, (unsigned)old), wanted->n_events);
        }
    }
}

// In the order of event groups, so that no CPU is interrupted many times in a row.
void channels_release(struct channels *c, struct closer *closer) {
    for (unsigned group = 0; group < c->n_groups; group++) {
        for (unsigned cpu = 0; cpu < c->topology->n_cpus; cpu++) {
            struct channel *channel = channel_of(c, cpu, group);
            if (channel->handle >= 0)
                closer_take(closer, channel->handle, c->plan->groups[group].n_events, channel->started);
            channel->handle = -EBADF;
        }
    }
}

// ---- opening, starting and stopping ----

static void toggle(struct channels *c, struct channel *channel, bool enabled) {
    if (channel->handle < 0)
        return;
    c->calls++;
    c->interrupts++;
    int r = c->pmu->ops->enable(c->pmu, channel->handle, enabled);
    if (r < 0)
        c->error = r;
}

static void start_channel(struct channels *c, struct channel *channel) {
    if (channel->times.enabled_ns == 0)
        channel->since_ns = c->now_ns;
    toggle(c, channel, true);
}

void channels_start(struct channels *c, unsigned cpu, unsigned group) {
    struct channel *channel = channel_of(c, cpu, group);
    if (channel->started)
        return;
    channel->started = true;
    start_channel(c, channel);
}

void channels_stop(struct channels *c, unsigned cpu, unsigned group) {
    struct channel *channel = channel_of(c, cpu, group);
    channel->started = false;
    toggle(c, channel, false);
}

// Opens an event group on a CPU, and starts it if it should be counting. Returns the number of events it tried to open.
static size_t open_channel(struct channels *c, unsigned cpu, unsigned group) {
    const struct plan_group *plan_group = &c->plan->groups[group];
    struct channel *channel = channel_of(c, cpu, group);
    struct pmu_event events[PLAN_GROUP_EVENTS_MAX];
    for (size_t e = 0; e < plan_group->n_events; e++)
        events[e] = c->plan->catalog->events[plan_group->events[e]].code;
    channel->handle = c->pmu->ops->open(c->pmu, c->topology->cpus[cpu].id, events, plan_group->n_events);
    channel->times = (struct pmu_times){0};
    channel->doubtful = false;
    memset(channel->counts, 0, plan_group->n_events * sizeof *channel->counts);
    size_t n = channel->handle == -ENODEV ? 1 : plan_group->n_events; // an offline CPU refuses the first
    c->calls += n;
    if (channel->handle < 0)
        channel->retry_ns = channel->handle == -ENODEV ? 0 : c->now_ns + RETRY_NS;
    else if (channel->started)
        start_channel(c, channel);
    return n;
}

void channels_begin_step(struct channels *c, uint64_t now_ns) {
    c->pmu->ops->advance(c->pmu, now_ns);
    c->now_ns = now_ns;
}

void channels_open(struct channels *c) {
    for (size_t opened = 0; c->to_open < c->n_channels; c->to_open++) {
        const struct channel *channel = &c->channels[c->to_open];
        unsigned cpu = (unsigned)(c->to_open / c->n_groups), group = (unsigned)(c->to_open % c->n_groups);
        if (channel->handle >= 0 || channel->retry_ns > c->now_ns)
            continue;
        if (opened > 0 && opened + c->plan->groups[group].n_events > PACE_EVENTS)
            return;
        opened += open_channel(c, cpu, group);
    }
}

void channels_retry(struct channels *c) { c->to_open = 0; }

bool channels_opening(const struct channels *c) { return c->to_open < c->n_channels; }

// ---- reading ----

// The CPU went offline: the kernel dissolved the event group for good.
static void lose_channel(struct channels *c, struct channel *channel) {
    if (channel->handle >= 0)
        c->pmu->ops->close(c->pmu, channel->handle);
    channel->handle = -ENODEV;
}

static void fail_window(struct channels *c, struct channel *channel, struct window *window, int error) {
    window->enabled_ns = window->running_ns = 0;
    window->result = WINDOW_FAILED;
    window->error = c->error = error;
    if (error == -ENODEV)
        lose_channel(c, channel);
}

void channels_lose(struct channels *c, unsigned cpu, unsigned group, struct window *window) {
    fail_window(c, channel_of(c, cpu, group), window, -ENODEV);
}

// Judges a new window, and takes what was read as the base of the next one.
static void settle_window(struct channels *c, struct channel *channel, struct window *window, struct pmu_times times,
                          size_t n_events) {
    window->result = window_result_of(window);
    plausible_judge(window, c->plan, most_of(c, window), c->now_ns - channel->since_ns, &channel->doubtful);
    channel->since_ns = c->now_ns;
    channel->times = times;
    memcpy(channel->counts, c->fresh, n_events * sizeof *c->fresh);
}

// Time in which a guest had the counters belongs to the window: what the events count did not happen then. So the
// counts do not stand for that time, too, and the window does not starve because of it.
static void add_guest(struct window *window, uint64_t guest_ns) {
    uint64_t enabled_ns = window->enabled_ns + guest_ns;
    if (guest_ns == 0)
        return;
    if (window->running_ns >= window->enabled_ns)
        window->running_ns += guest_ns;
    else
        window->running_ns = (uint64_t)((double)window->running_ns / (double)window->enabled_ns * (double)enabled_ns);
    window->enabled_ns = enabled_ns;
}

static int read_channel(struct channels *c, const struct channel *channel, size_t n_events, struct pmu_times *times) {
    if (channel->handle < 0)
        return channel->handle;
    c->calls++;
    c->interrupts += channel->started;
    int r = c->pmu->ops->read(c->pmu, channel->handle, times, c->fresh, n_events);
    return r >= 0 && n_events == 1 && pmu_stands_still(&channel->times, times) ? -ENODEV : r;
}

uint64_t channels_since_ns(const struct channels *c, unsigned cpu, unsigned group) {
    return channel_of(c, cpu, group)->since_ns;
}

struct window *channels_read(struct channels *c, unsigned cpu, unsigned group, struct readings *readings) {
    size_t n_events = c->plan->groups[group].n_events;
    struct channel *channel = channel_of(c, cpu, group);
    struct window *window = readings_add(readings, cpu, group, n_events);
    struct pmu_times times = {0};
    int r = read_channel(c, channel, n_events, &times);
    if (r < 0) {
        fail_window(c, channel, window, r);
        return window;
    }
    window->enabled_ns = times.enabled_ns - channel->times.enabled_ns;
    window->running_ns = times.running_ns - channel->times.running_ns;
    for (size_t e = 0; e < n_events; e++)
        window->counts[e] = c->fresh[e] - channel->counts[e];
    add_guest(window, times.guest_ns - channel->times.guest_ns);
    settle_window(c, channel, window, times, n_events);
    return window;
}

void channels_rebase(struct channels *c, unsigned cpu, unsigned group) {
    struct channel *channel = channel_of(c, cpu, group);
    if (channel->handle < 0)
        return;
    c->calls++;
    int r =
        c->pmu->ops->read(c->pmu, channel->handle, &channel->times, channel->counts, c->plan->groups[group].n_events);
    if (r == -ENODEV)
        lose_channel(c, channel);
}

int channels_take_error(struct channels *c) {
    int error = c->error;
    c->error = 0;
    return error;
}

int channels_open_error(const struct channels *c, size_t *n_failed) {
    int error = 0;
    *n_failed = 0;
    for (size_t i = 0; i < c->n_channels; i++) {
        int handle = c->channels[i].handle;
        if (handle >= 0)
            continue;
        if (error == 0 || error == -ENODEV)
            error = handle;
        ++*n_failed;
    }
    return error;
}

static uint64_t more_calls(const struct channels *c) { return c->pmu->more_calls - c->others_calls; }

uint64_t channels_calls(const struct channels *c) { return c->calls + more_calls(c); }

uint64_t channels_interrupts(const struct channels *c) { return c->interrupts + more_calls(c); }
