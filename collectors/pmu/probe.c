// SPDX-License-Identifier: Apache-2.0
#include "collectors/pmu/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/pmu/pace.h"
#include "core/plan/fit.h"

// A trial of one size visits the CPUs twice: first it opens and starts a group on each, then it waits, reads and
// closes.

static const uint64_t TRIAL_NS = UINT64_C(12000000); // three rotation intervals

enum { SURPRISES_MAX = 3 }; // where others come and go all the time, a search must end
enum { EVENTS_MAX = PROBE_FIXED_MAX + PROBE_COUNTERS_MAX + 1 };

enum phase { OPENING, RUNNING, CLOSING, DONE };

struct probe {
    const struct topology *topology;
    struct pmu *pmu;
    struct pmu_event events[EVENTS_MAX]; // fixed ones first
    unsigned n_fixed, n_general;
    int *handles;              // [cpu]; negative errno
    struct pmu_event question; // the event of probe_ask
    bool has_question, asking, runs_beside;
    enum phase phase;
    size_t cpu;                // the next CPU of this pass
    unsigned size;             // general counters being tried
    unsigned fits;             // the largest number known to fit
    unsigned too_many;         // the smallest number known not to fit
    unsigned n_surprises;      // sizes that did not fit at first
    size_t opened, asked, ran; // CPUs that opened the group, that gave an answer, and on which it ran
    size_t guests;             // CPUs whose guest had the counters all the time
    uint64_t until_ns;         // end of RUNNING
    int error;                 // why a CPU could not open the group in this trial
    uint64_t calls, interrupts;
};

// True for an event that any counter can count or that has a counter of its own. Other events, and exclusive ones,
// would suggest too few counters, and the topdown events are in every group.
static bool tells(const struct catalog *catalog, const struct catalog_event *event) {
    const struct fit_pmu stated = {.general = catalog->general_counters};
    struct event_need need = event->need;
    need.fixed = -1;
    return event->kind == EVENT_COUNTED && event->code.pmu == 0 && !event->topdown && !event->sampling_only &&
           !need.free && !need.exclusive && !fit_is_constrained(&stated, &need);
}

// Takes only the first of an event and its variants with modifiers, which share one fixed counter.
static void take_events(struct probe *p, const struct catalog *catalog, const bool *usable) {
    uint64_t taken = 0;
    for (size_t e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events; e++) {
        const struct catalog_event *event = &catalog->events[e];
        uint64_t bit = event->fixed ? UINT64_C(1) << event->need.fixed : 0;
        if (!usable[e] || !tells(catalog, event) || bit == 0 || (taken & bit) != 0 || p->n_fixed == PROBE_FIXED_MAX)
            continue;
        taken |= bit;
        p->events[p->n_fixed++] = event->code;
    }
    for (size_t e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events; e++)
        if (usable[e] && tells(catalog, &catalog->events[e]) && !catalog->events[e].fixed &&
            p->n_general < PROBE_COUNTERS_MAX)
            p->events[p->n_fixed + p->n_general++] = catalog->events[e].code;
}

// The search is over, but its last trial was a success: the size that did not fit was tried before, and others may have
// released counters since.
static bool must_look_again(const struct probe *p) {
    return p->size < p->too_many && p->too_many <= p->n_general && p->n_surprises < SURPRISES_MAX;
}

// Goes on to the size in the middle, if one is left, and then to the question.
static void begin_trial(struct probe *p) {
    bool searching = p->too_many - p->fits > 1, over = p->asking;
    bool again = !searching && !over && must_look_again(p);
    p->asking = !searching && !over && !again && p->has_question && p->fits > 0 && p->fits < p->n_general;
    p->phase = searching || again || p->asking ? OPENING : DONE;
    if (p->phase == DONE)
        return;
    p->size = p->asking ? p->fits : again ? p->too_many : (p->fits + p->too_many) / 2;
    p->opened = p->asked = p->ran = p->guests = p->cpu = 0;
    p->error = 0;
}

int probe_new(const struct catalog *catalog, const bool *usable, const struct topology *topology, struct pmu *pmu,
              struct probe **out) {
    struct probe *p = calloc(1, sizeof *p);
    if (!p)
        return -ENOMEM;
    p->topology = topology;
    p->pmu = pmu;
    p->handles = calloc(topology->n_cpus, sizeof *p->handles);
    if (!p->handles) {
        free(p);
        return -ENOMEM;
    }
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        p->handles[cpu] = -EBADF;
    take_events(p, catalog, usable);
    p->too_many = p->n_general + 1;
    begin_trial(p);
    *out = p;
    return 0;
}

struct probe *probe_free(struct probe *p) {
    if (p) {
        for (size_t cpu = 0; cpu < p->topology->n_cpus; cpu++)
            if (p->handles[cpu] >= 0)
                p->pmu->ops->close(p->pmu, p->handles[cpu]);
        free(p->handles);
        free(p);
    }
    return NULL;
}

// Of an event group of this trial.
static size_t count_events(const struct probe *p) { return p->n_fixed + p->size + p->asking; }

struct probe *probe_release(struct probe *p, struct closer *closer) {
    for (size_t cpu = 0; p && cpu < p->topology->n_cpus; cpu++) {
        if (p->handles[cpu] >= 0)
            closer_take(closer, p->handles[cpu], count_events(p), true);
        p->handles[cpu] = -EBADF;
    }
    return probe_free(p);
}

static size_t cpus_a_step(const struct probe *p) {
    size_t n = PACE_EVENTS / count_events(p);
    return n > 0 ? n : 1;
}

static void open_cpu(struct probe *p, size_t cpu) {
    struct pmu_event events[EVENTS_MAX];
    size_t n = count_events(p);
    memcpy(events, p->events, n * sizeof *events);
    if (p->asking)
        events[n - 1] = p->question;
    int handle = p->pmu->ops->open(p->pmu, p->topology->cpus[cpu].id, events, n);
    p->calls += handle == -ENODEV ? 1 : n; // an offline CPU refuses the first
    if (handle >= 0) {
        p->calls++;
        p->interrupts++;
        (void)p->pmu->ops->enable(p->pmu, handle, true); // a group that fails to start never runs
    } else if (p->error == 0 || p->error == -ENODEV) {
        p->error = handle;
    }
    p->opened += handle >= 0;
    p->handles[cpu] = handle;
}

// True if the error is about the counters, not about the CPU or this process.
static bool is_about_counters(int error) {
    return error != -ENODEV && error != -EMFILE && error != -ENFILE && error != -ENOMEM;
}

static void close_cpu(struct probe *p, size_t cpu) {
    uint64_t counts[EVENTS_MAX];
    size_t n = count_events(p);
    struct pmu_times times = {0};
    int r = p->handles[cpu];
    if (r >= 0) {
        p->calls += 1 + n; // reads it, closes its events: each interrupts the CPU
        p->interrupts += 1 + n;
        r = p->pmu->ops->read(p->pmu, p->handles[cpu], &times, counts, n);
    }
    bool guest = r >= 0 && pmu_guest_only(&times);
    p->guests += guest;
    p->asked += r >= 0 ? !guest : is_about_counters(r);
    p->ran += r >= 0 && times.running_ns > 0;
    if (p->handles[cpu] >= 0)
        p->pmu->ops->close(p->pmu, p->handles[cpu]);
    p->handles[cpu] = -EBADF;
}

// Applies `act` to as many CPUs as one step may handle. True once all CPUs are done.
static bool pass(struct probe *p, void (*act)(struct probe *p, size_t cpu)) {
    size_t end = p->cpu + cpus_a_step(p);
    for (; p->cpu < p->topology->n_cpus && p->cpu < end; p->cpu++)
        act(p, p->cpu);
    return p->cpu == p->topology->n_cpus;
}

// Where guests leave no CPU to ask, the kernel's word counts: it has opened the group.
static void end_trial(struct probe *p) {
    bool ran = p->asked > 0 ? p->ran > 0 && 2 * p->ran >= p->asked : p->guests > 0 && !p->asking;
    if (p->asking) {
        p->runs_beside = ran;
        return;
    }
    if (ran && p->size == p->too_many) { // it did not before: nothing is known of larger ones
        p->too_many = p->n_general + 1;
        p->n_surprises++;
    }
    if (ran)
        p->fits = p->size;
    else
        p->too_many = p->size;
}

int probe_step(struct probe *p, uint64_t now_ns, uint64_t *deadline_ns) {
    p->pmu->ops->advance(p->pmu, now_ns);
    if (p->phase == RUNNING && now_ns >= p->until_ns) {
        p->phase = CLOSING;
        p->cpu = 0;
    }
    if (p->phase == CLOSING && pass(p, close_cpu)) {
        end_trial(p);
        begin_trial(p);
    }
    if (p->phase == OPENING && pass(p, open_cpu)) {
        p->phase = RUNNING;
        p->until_ns = now_ns + TRIAL_NS;
    }
    *deadline_ns = p->phase == RUNNING ? p->until_ns : now_ns + PACE_NS;
    return p->phase == DONE;
}

void probe_ask(struct probe *p, const struct pmu_event *event) {
    p->question = *event;
    p->has_question = true;
}

bool probe_runs_beside(const struct probe *p) { return p->runs_beside; }

unsigned probe_counters(const struct probe *p) { return p->fits; }

int probe_error(const struct probe *p) { return p->fits > 0 || p->opened > 0 ? 0 : p->error; }

uint64_t probe_calls(const struct probe *p) { return p->calls; }

uint64_t probe_interrupts(const struct probe *p) { return p->interrupts; }
