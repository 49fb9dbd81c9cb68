// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/standing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pace.h"
#include "core/tally/plausible.h"

// A group counts from one reading to the next without a gap, so the time of its window is the time between them, as the
// caller's clock has it. The kernel's own times are off by the moment that each read takes place; with them, counts
// would be scaled up and down a little from snapshot to snapshot. They only apply where a group did not count for all
// of that time.

static const uint64_t RETRY_NS = UINT64_C(60000000000); // before another try to open a group
static const uint64_t LATE_NS = 100000000;              // a read may come so much later than the clock says

struct channel {            // a group on a CPU
    int handle;             // negative errno: not open, or -ENODEV: its CPU went away
    bool counts_now;        // it has been started
    uint64_t since_ns;      // start of its next window, by the caller's clock
    uint64_t retry_ns;      // if not open: when to try again
    struct pmu_times times; // totals at the last reading
    uint64_t *counts;
    bool doubtful; // the counts fell (core/tally/plausible.h)
};

struct standing {
    const struct plan *plan;
    const struct topology *topology;
    struct pmu *pmu;
    size_t first_group, n_groups; // of the plan
    struct channel *channels;     // [cpu][group]
    size_t n_channels;            // 0 until they are made
    size_t to_open;               // the next for this pass of opening; n_channels: the pass is over
    uint64_t *counts, *fresh;     // memory for the channels' counts; for one reading
    bool started;
    uint64_t calls, interrupts;
};

static const struct plan_group *group_of(const struct standing *s, size_t channel) {
    return &s->plan->groups[s->first_group + channel % s->n_groups];
}

// ---- making ----

static void make_channels(struct standing *s) {
    uint64_t *counts = s->counts;
    s->n_channels = s->topology->n_cpus * s->n_groups;
    for (size_t i = 0; i < s->n_channels; i++) {
        s->channels[i] = (struct channel){.handle = -EBADF, .counts = counts};
        counts += group_of(s, i)->n_events;
    }
}

struct standing *standing_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu) {
    struct standing *s = calloc(1, sizeof *s);
    size_t n_counts = 0;
    if (!s)
        return NULL;
    *s = (struct standing){.plan = plan, .topology = topology, .pmu = pmu, .first_group = plan_n_rotating(plan)};
    s->n_groups = plan->n_groups - s->first_group;
    for (size_t g = s->first_group; g < plan->n_groups; g++)
        n_counts += plan->groups[g].n_events;
    s->channels = calloc(topology->n_cpus * s->n_groups + 1, sizeof *s->channels);
    s->counts = calloc(topology->n_cpus * n_counts + 1, sizeof *s->counts);
    s->fresh = calloc(n_counts + 1, sizeof *s->fresh);
    if (!s->channels || !s->counts || !s->fresh)
        return standing_free(s);
    make_channels(s);
    return s;
}

struct standing *standing_free(struct standing *s) {
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->n_channels; i++)
        if (s->channels[i].handle >= 0)
            s->pmu->ops->close(s->pmu, s->channels[i].handle);
    free(s->fresh);
    free(s->counts);
    free(s->channels);
    free(s);
    return NULL;
}

// ---- one sampler after another ----

static void take_channel(struct channel *to, struct channel *from, size_t n_events) {
    uint64_t *counts = to->counts;
    memcpy(counts, from->counts, n_events * sizeof *counts);
    *to = *from;
    to->counts = counts;
    from->handle = -EBADF;
}

void standing_inherit(struct standing *s, struct standing *from) {
    size_t before = 0; // CPU numbers ascend in both topologies
    for (size_t i = 0; i < s->n_channels; i++) {
        unsigned id = s->topology->cpus[i / s->n_groups].id;
        while (before < from->topology->n_cpus && from->topology->cpus[before].id < id)
            before++;
        if (before == from->topology->n_cpus || from->topology->cpus[before].id != id)
            continue;
        for (size_t o = before * from->n_groups; o < (before + 1) * from->n_groups; o++)
            if (plan_group_same(group_of(s, i), group_of(from, o)))
                take_channel(&s->channels[i], &from->channels[o], group_of(s, i)->n_events);
    }
}

void standing_release(struct standing *s, struct closer *closer) {
    for (size_t i = 0; i < s->n_channels; i++) {
        struct channel *channel = &s->channels[i];
        if (channel->handle >= 0)
            closer_take(closer, channel->handle, group_of(s, i)->n_events, channel->counts_now);
        channel->handle = -EBADF;
    }
}

// ---- opening ----

static void start_channel(struct standing *s, struct channel *channel, uint64_t now_ns) {
    s->calls++;
    s->interrupts++;
    (void)s->pmu->ops->enable(s->pmu, channel->handle, true); // what does not start shows when it is read
    channel->counts_now = true;
    channel->since_ns = now_ns;
}

void standing_start(struct standing *s, uint64_t now_ns) {
    s->started = true;
    for (size_t i = 0; i < s->n_channels; i++)
        if (s->channels[i].handle >= 0 && !s->channels[i].counts_now)
            start_channel(s, &s->channels[i], now_ns);
}

// Returns the number of events it tried to open.
static size_t open_channel(struct standing *s, size_t i, uint64_t now_ns) {
    const struct plan_group *group = group_of(s, i);
    struct channel *channel = &s->channels[i];
    struct pmu_event events[PLAN_GROUP_EVENTS_MAX];
    for (size_t e = 0; e < group->n_events; e++)
        events[e] = s->plan->catalog->events[group->events[e]].code;
    channel->handle = s->pmu->ops->open(s->pmu, s->topology->cpus[i / s->n_groups].id, events, group->n_events);
    channel->counts_now = false;
    channel->times = (struct pmu_times){0};
    channel->doubtful = false;
    memset(channel->counts, 0, group->n_events * sizeof *channel->counts);
    size_t n = channel->handle == -ENODEV ? 1 : group->n_events; // an offline CPU refuses the first
    s->calls += n;
    if (channel->handle < 0)
        channel->retry_ns = channel->handle == -ENODEV ? 0 : now_ns + RETRY_NS;
    else if (s->started)
        start_channel(s, channel, now_ns);
    return n;
}

bool standing_open(struct standing *s, uint64_t now_ns) {
    for (size_t opened = 0; s->to_open < s->n_channels; s->to_open++) {
        const struct channel *channel = &s->channels[s->to_open];
        if (channel->handle >= 0 || channel->retry_ns > now_ns)
            continue;
        if (opened > 0 && opened + group_of(s, s->to_open)->n_events > PACE_EVENTS)
            return true;
        opened += open_channel(s, s->to_open, now_ns);
    }
    return false;
}

// ---- reading ----

// The CPU went offline: the group is dead, and opened anew once the CPU is back.
static void lose_channel(struct standing *s, struct channel *channel) {
    s->pmu->ops->close(s->pmu, channel->handle);
    channel->handle = -ENODEV;
}

// Takes what was read since the last reading. -ENODEV if the group has not counted at all: a group of one event reads
// in full also after the kernel has taken it off its CPU.
static int take_read(struct standing *s, struct channel *channel, const struct pmu_times *times, size_t n_events,
                     uint64_t now_ns, struct window *window) {
    uint64_t elapsed_ns = now_ns - channel->since_ns;
    window->enabled_ns = times->enabled_ns - channel->times.enabled_ns;
    window->running_ns = times->running_ns - channel->times.running_ns;
    if (window->running_ns == 0)
        return -ENODEV;
    for (size_t e = 0; e < n_events; e++)
        window->counts[e] = s->fresh[e] - channel->counts[e];
    window->result = window_result_of(window);
    plausible_judge(window, s->plan, elapsed_ns, &channel->doubtful);
    if (window->result == WINDOW_COMPLETE && window->running_ns + LATE_NS + elapsed_ns / 8 > elapsed_ns)
        window->enabled_ns = window->running_ns = elapsed_ns;
    memcpy(channel->counts, s->fresh, n_events * sizeof *s->fresh);
    channel->times = *times;
    channel->since_ns = now_ns;
    return 0;
}

static int read_channel(struct standing *s, struct channel *channel, size_t n_events, uint64_t now_ns,
                        struct window *window) {
    struct pmu_times times = {0};
    if (channel->handle < 0)
        return channel->handle;
    s->calls++;
    s->interrupts++;
    int r = s->pmu->ops->read(s->pmu, channel->handle, &times, s->fresh, n_events);
    if (r == 0)
        r = take_read(s, channel, &times, n_events, now_ns, window);
    if (r == -ENODEV)
        lose_channel(s, channel);
    return r;
}

int standing_read(struct standing *s, unsigned cpu, uint64_t now_ns, struct readings *readings) {
    int error = 0;
    for (size_t g = 0; g < s->n_groups; g++) {
        size_t channel = cpu * s->n_groups + g, n_events = group_of(s, channel)->n_events;
        struct window *window = readings_add(readings, cpu, (unsigned)(s->first_group + g), n_events);
        int r = read_channel(s, &s->channels[channel], n_events, now_ns, window);
        if (r == 0)
            continue;
        window->enabled_ns = window->running_ns = 0;
        window->result = WINDOW_FAILED;
        window->error = error = r;
    }
    return error;
}

void standing_retry(struct standing *s) { s->to_open = 0; }

// ---- what it tells ----

int standing_open_error(const struct standing *s, size_t *n_failed) {
    int error = 0;
    *n_failed = 0;
    for (size_t i = 0; i < s->n_channels; i++) {
        int handle = s->channels[i].handle;
        if (handle >= 0)
            continue;
        if (error == 0 || error == -ENODEV)
            error = handle;
        ++*n_failed;
    }
    return error;
}

uint64_t standing_calls(const struct standing *s) { return s->calls; }

uint64_t standing_interrupts(const struct standing *s) { return s->interrupts; }
