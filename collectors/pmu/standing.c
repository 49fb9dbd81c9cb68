// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/standing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// A group counts from one reading to the next without a gap, so the time of its window is the time between them, as the
// caller's clock has it. The kernel's own times are off by the moment that each read takes place; with them, counts
// would be scaled up and down a little from snapshot to snapshot. They only apply where a group did not count for all
// of that time.

static const uint64_t RETRY_NS = UINT64_C(60000000000); // before another try to open a group
static const uint64_t LATE_NS = 100000000;              // a read may come so much later than the clock says

enum { OPENED_A_STEP = 64 }; // events

struct standing_group {
    unsigned group; // of the plan
    size_t n_events;
    struct pmu_event *events;
};
struct standing_channel {   // a group on a CPU
    int handle;             // negative errno: not open, or -ENODEV: its CPU went away
    bool counts_now;        // it has been started
    uint64_t since_ns;      // start of its next window, by the caller's clock
    uint64_t retry_ns;      // if not open: when to try again
    struct pmu_times times; // totals at the last reading
    uint64_t *counts;
};

struct standing {
    struct pmu *pmu;
    struct standing_group *groups;
    size_t n_groups;
    unsigned *cpus; // the kernel's numbers
    size_t n_cpus;
    struct standing_channel *channels; // [cpu][group]
    size_t n_channels;
    bool started;
    size_t to_open;           // the next for this pass of opening; n_channels: the pass is over
    uint64_t *counts, *fresh; // memory for the channels' counts; for one reading
    uint64_t calls, interrupts;
};

// ---- making ----

static int copy_groups(struct standing *s, const struct plan *plan, size_t *n_counts) {
    size_t first = plan_n_rotating(plan);
    s->groups = calloc(plan->n_groups - first + 1, sizeof *s->groups);
    if (!s->groups)
        return -ENOMEM;
    for (size_t g = first; g < plan->n_groups; g++) {
        const struct plan_group *of = &plan->groups[g];
        struct standing_group *group = &s->groups[s->n_groups];
        *group = (struct standing_group){
            .group = (unsigned)g, .n_events = of->n_events, .events = calloc(of->n_events, sizeof *group->events)};
        if (!group->events)
            return -ENOMEM;
        for (size_t e = 0; e < of->n_events; e++)
            group->events[e] = plan->catalog->events[of->events[e]].code;
        s->n_groups++;
        *n_counts += of->n_events;
    }
    return 0;
}

static void make_channels(struct standing *s) {
    uint64_t *counts = s->counts;
    for (size_t i = 0; i < s->n_channels; i++) {
        s->channels[i] = (struct standing_channel){.handle = -EBADF, .counts = counts};
        counts += s->groups[i % s->n_groups].n_events;
    }
}

int standing_new(const struct plan *plan, const struct topology *topology, struct pmu *pmu, struct standing **out) {
    struct standing *s = calloc(1, sizeof *s);
    size_t n_counts = 0;
    if (!s)
        return -ENOMEM;
    s->pmu = pmu;
    int r = copy_groups(s, plan, &n_counts);
    s->n_cpus = topology->n_cpus;
    s->cpus = calloc(s->n_cpus + 1, sizeof *s->cpus);
    s->channels = calloc(s->n_cpus * s->n_groups + 1, sizeof *s->channels);
    s->counts = calloc(s->n_cpus * n_counts + 1, sizeof *s->counts);
    s->fresh = calloc(n_counts + 1, sizeof *s->fresh);
    if (r < 0 || !s->cpus || !s->channels || !s->counts || !s->fresh) {
        standing_free(s);
        return -ENOMEM;
    }
    for (size_t cpu = 0; cpu < s->n_cpus; cpu++)
        s->cpus[cpu] = topology->cpus[cpu].id;
    s->n_channels = s->n_cpus * s->n_groups;
    make_channels(s);
    *out = s;
    return 0;
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
    free(s->cpus);
    for (size_t g = 0; g < s->n_groups; g++)
        free(s->groups[g].events);
    free(s->groups);
    free(s);
    return NULL;
}

// ---- taking over ----

static bool same_events(const struct standing_group *a, const struct standing_group *b) {
    bool same = a->n_events == b->n_events;
    for (size_t e = 0; e < a->n_events && same; e++)
        same = pmu_event_same(&a->events[e], &b->events[e]);
    return same;
}

static void take_channel(struct standing_channel *to, struct standing_channel *from, size_t n_events) {
    uint64_t *counts = to->counts;
    memcpy(counts, from->counts, n_events * sizeof *counts);
    *to = *from;
    to->counts = counts;
    from->handle = -EBADF;
}

void standing_take_over(struct standing *s, struct standing *before) {
    size_t old = 0;
    for (size_t cpu = 0; cpu < s->n_cpus; cpu++) { // both lists ascend
        while (old < before->n_cpus && before->cpus[old] < s->cpus[cpu])
            old++;
        if (old == before->n_cpus || before->cpus[old] != s->cpus[cpu])
            continue;
        for (size_t g = 0; g < s->n_groups; g++)
            for (size_t o = 0; o < before->n_groups; o++)
                if (same_events(&s->groups[g], &before->groups[o]))
                    take_channel(&s->channels[cpu * s->n_groups + g], &before->channels[old * before->n_groups + o],
                                 s->groups[g].n_events);
    }
}

// ---- opening ----

static void start_channel(struct standing *s, struct standing_channel *channel, uint64_t now_ns) {
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
    const struct standing_group *group = &s->groups[i % s->n_groups];
    struct standing_channel *channel = &s->channels[i];
    channel->handle = s->pmu->ops->open(s->pmu, s->cpus[i / s->n_groups], group->events, group->n_events);
    channel->counts_now = false;
    channel->times = (struct pmu_times){0};
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
        const struct standing_channel *channel = &s->channels[s->to_open];
        if (channel->handle >= 0 || channel->retry_ns > now_ns)
            continue;
        if (opened > 0 && opened + s->groups[s->to_open % s->n_groups].n_events > OPENED_A_STEP)
            return true;
        opened += open_channel(s, s->to_open, now_ns);
    }
    return false;
}

// ---- reading ----

// The CPU went offline: the group is dead, and opened anew once the CPU is back.
static void lose_channel(struct standing *s, struct standing_channel *channel) {
    s->pmu->ops->close(s->pmu, channel->handle);
    channel->handle = -ENODEV;
}

// Sets the window's times. -ENODEV if the group has not counted at all: a group of one event reads in full also after
// the kernel has taken it off its CPU.
static int take_times(const struct standing_channel *channel, const struct pmu_times *times, uint64_t now_ns,
                      struct window *window) {
    uint64_t elapsed_ns = now_ns - channel->since_ns;
    uint64_t running_ns = times->running_ns - channel->times.running_ns;
    if (running_ns == 0)
        return -ENODEV;
    window->enabled_ns = times->enabled_ns - channel->times.enabled_ns;
    window->running_ns = running_ns;
    if (running_ns + LATE_NS + elapsed_ns / 8 > elapsed_ns)
        window->enabled_ns = window->running_ns = elapsed_ns;
    return 0;
}

static int read_channel(struct standing *s, struct standing_channel *channel, size_t n_events, uint64_t now_ns,
                        struct window *window) {
    struct pmu_times times = {0};
    if (channel->handle < 0)
        return channel->handle;
    s->calls++;
    s->interrupts++;
    int r = s->pmu->ops->read(s->pmu, channel->handle, &times, s->fresh, n_events);
    if (r == 0)
        r = take_times(channel, &times, now_ns, window);
    if (r == -ENODEV)
        lose_channel(s, channel);
    if (r < 0)
        return r;
    for (size_t e = 0; e < n_events; e++)
        window->counts[e] = s->fresh[e] - channel->counts[e];
    memcpy(channel->counts, s->fresh, n_events * sizeof *s->fresh);
    channel->times = times;
    channel->since_ns = now_ns;
    return 0;
}

int standing_read(struct standing *s, uint64_t now_ns, struct readings *readings) {
    int error = 0;
    for (size_t i = 0; i < s->n_channels; i++) {
        const struct standing_group *group = &s->groups[i % s->n_groups];
        struct window *window = readings_add(readings, (unsigned)(i / s->n_groups), group->group, group->n_events);
        window->error = read_channel(s, &s->channels[i], group->n_events, now_ns, window);
        window->result = window->error < 0 ? WINDOW_FAILED : window_result_of(window);
        error = window->error < 0 ? window->error : error;
    }
    s->to_open = 0;
    return error;
}

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
