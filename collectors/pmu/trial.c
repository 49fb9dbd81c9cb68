// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/trial.h"

#include <errno.h>
#include <stdlib.h>

struct trial {
    struct pmu *pmu;
    const struct trial_group *groups;
    size_t n_groups, tried; // the next group to try
    unsigned *cpus;         // of the core, the kernel's numbers
    int *handles;           // of each, of the group that runs; negative errno
    size_t n_cpus;
    int *answers;
    uint64_t *counts; // memory for one reading
    bool runs;
    uint64_t until_ns;
    uint64_t calls, interrupts;
};

static size_t most_events(const struct trial_group *groups, size_t n) {
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = groups[i].n_events > most ? groups[i].n_events : most;
    return most;
}

int trial_new(struct pmu *pmu, const struct topology *topology, unsigned core, const struct trial_group *groups,
              size_t n, struct trial **out) {
    struct trial *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    *t = (struct trial){.pmu = pmu, .groups = groups, .n_groups = n};
    t->cpus = calloc(topology->n_cpus, sizeof *t->cpus);
    t->handles = calloc(topology->n_cpus, sizeof *t->handles);
    t->answers = calloc(n + 1, sizeof *t->answers);
    t->counts = calloc(most_events(groups, n), sizeof *t->counts);
    if (!t->cpus || !t->handles || !t->answers || !t->counts) {
        trial_free(t);
        return -ENOMEM;
    }
    for (size_t i = 0; i < topology->n_cpus; i++)
        if (topology->cpus[i].core == core)
            t->cpus[t->n_cpus++] = topology->cpus[i].id;
    for (size_t i = 0; i < n; i++)
        t->answers[i] = -EAGAIN;
    *out = t;
    return 0;
}

static void toggle(struct trial *t, bool enabled) {
    for (size_t i = 0; i < t->n_cpus; i++) {
        if (t->handles[i] < 0)
            continue;
        (void)t->pmu->ops->enable(t->pmu, t->handles[i], enabled); // a group that fails to start does not run
        t->calls++;
        t->interrupts++;
    }
}

static void begin_group(struct trial *t, uint64_t now_ns) {
    const struct trial_group *group = &t->groups[t->tried];
    for (size_t i = 0; i < t->n_cpus; i++) {
        t->handles[i] = t->pmu->ops->open(t->pmu, t->cpus[i], group->events, group->n_events);
        t->calls += group->n_events;
    }
    toggle(t, true);
    t->runs = true;
    t->until_ns = now_ns + TRIAL_NS;
}

// True if the error is about the events, not about the CPU or this process.
static bool is_about_events(int error) {
    return error != -ENODEV && error != -EMFILE && error != -ENFILE && error != -ENOMEM;
}

// 1 if the group ran on this CPU, 0 if not; -EAGAIN if that is not known.
static int answer_of(struct trial *t, size_t cpu) {
    const struct trial_group *group = &t->groups[t->tried];
    struct pmu_times times = {0};
    int r = t->handles[cpu];
    if (r >= 0) {
        r = t->pmu->ops->read(t->pmu, r, &times, t->counts, group->n_events);
        t->calls++;
    }
    if (r < 0)
        return is_about_events(r) ? 0 : -EAGAIN;
    return pmu_guest_only(&times) ? -EAGAIN : times.running_ns > 0;
}

static void close_group(struct trial *t) {
    for (size_t i = 0; i < t->n_cpus && t->runs; i++) {
        if (t->handles[i] < 0)
            continue;
        t->pmu->ops->close(t->pmu, t->handles[i]);
        t->calls += t->groups[t->tried].n_events;
    }
    t->runs = false;
}

// A CPU that does not answer leaves the others to.
static void end_group(struct trial *t) {
    int all = -EAGAIN;
    toggle(t, false);
    for (size_t i = 0; i < t->n_cpus; i++) {
        int answer = answer_of(t, i);
        if (answer >= 0)
            all = all == -EAGAIN ? answer : all && answer;
    }
    close_group(t);
    t->answers[t->tried++] = all;
}

int trial_step(struct trial *t, uint64_t now_ns, uint64_t quiet_until_ns, uint64_t *deadline_ns) {
    t->pmu->ops->advance(t->pmu, now_ns);
    if (t->runs && now_ns >= t->until_ns)
        end_group(t);
    if (!t->runs && t->tried < t->n_groups && quiet_until_ns >= now_ns + TRIAL_NS)
        begin_group(t, now_ns);
    *deadline_ns = t->runs ? t->until_ns : UINT64_MAX;
    return t->tried == t->n_groups;
}

int trial_answer(const struct trial *t, size_t group) { return t->answers[group]; }

uint64_t trial_calls(const struct trial *t) { return t->calls; }

uint64_t trial_interrupts(const struct trial *t) { return t->interrupts; }

struct trial *trial_free(struct trial *t) {
    if (t) {
        close_group(t);
        free(t->counts);
        free(t->answers);
        free(t->handles);
        free(t->cpus);
        free(t);
    }
    return NULL;
}
