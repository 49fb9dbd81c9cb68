// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/collector.h"

#include <errno.h>
#include <stdlib.h>

#include "collectors/host/host_busy.h"
#include "collectors/pmu/closer.h"
#include "collectors/pmu/probe.h"

// A sampler with the layout that its plan belongs to.
struct run {
    struct sampler *sampler; // NULL: none
    struct snapshot_layout *layout;
};

struct collector {
    struct source *source;
    struct self *self;
    uint64_t interval_ns, seed, told_pause_ns;
    struct pmu *pmu;
    struct busy_clock *busy_clock; // NULL: it is not known which cores sleep
    struct run run, stopped;       // the next sampler takes over what it can use of the stopped one
    struct probe *probe;           // NULL: none
    struct closer *closer;         // of what sampler and probe leave behind
    uint64_t next_round;           // first round of a new sampler
};

static struct run run_end(struct run run) {
    snapshot_layout_unref(run.layout);
    return (struct run){0};
}

// ---- making ----

int collector_new(const struct collector_request *request, struct errors *errors, struct collector **out) {
    struct source *source = request->source;
    struct collector *c = calloc(1, sizeof *c);
    if (!c)
        return -ENOMEM;
    *c = (struct collector){.source = source,
                            .self = request->self,
                            .interval_ns = request->interval_ns,
                            .seed = request->seed,
                            .told_pause_ns = request->told_pause_ns};
    int r = source_pmu(source, request->now_ns, errors, &c->pmu);
    if (r == 0 && !source->simulated && host_busy_new(source->roots.procfs, &c->busy_clock) == -ENOMEM)
        r = -ENOMEM;
    if (r == 0)
        r = closer_new(c->pmu, &c->closer);
    if (r < 0) {
        collector_free(c);
        return r;
    }
    *out = c;
    return 0;
}

struct collector *collector_free(struct collector *c) {
    if (!c)
        return NULL;
    probe_free(c->probe);
    sampler_free(c->run.sampler);
    c->run = run_end(c->run);
    sampler_free(c->stopped.sampler);
    c->stopped = run_end(c->stopped);
    closer_free(c->closer);
    host_busy_free(c->busy_clock);
    if (c->pmu)
        c->pmu->ops->free(c->pmu);
    free(c);
    return NULL;
}

void collector_change(struct collector *c, struct source *source, uint64_t interval_ns) {
    c->source = source;
    c->interval_ns = interval_ns;
}

struct pmu *collector_pmu(const struct collector *c) {
    return c->pmu;
}

// ---- a plan ----

static void close_stopped(struct collector *c) {
    uint64_t calls = closer_calls(c->closer);
    self_step_begin(c->self);
    sampler_release(c->stopped.sampler, c->closer);
    c->stopped = run_end(c->stopped);
    calls = closer_calls(c->closer) - calls;
    self_change_end(c->self, calls, calls);
}

int collector_start(struct collector *c, struct snapshot_layout *layout) {
    const struct sampler_request request = {.plan = layout->plan,
                                            .topology = layout->topology,
                                            .pmu = c->pmu,
                                            .busy_clock = c->busy_clock,
                                            .told_clock = c->pmu->busy_clock ? c->pmu->busy_clock : c->busy_clock,
                                            .told_pause_ns = c->told_pause_ns,
                                            .guests = c->source->exclude_guest,
                                            .interval_ns = c->interval_ns,
                                            .seed = c->seed,
                                            .first_round = c->next_round};
    int r = sampler_new(&request, &c->run.sampler);
    if (r == 0)
        c->run.layout = snapshot_layout_ref(layout);
    if (r == 0 && c->stopped.sampler)
        sampler_inherit(c->run.sampler, c->stopped.sampler);
    close_stopped(c);
    return r;
}

bool collector_step(struct collector *c, uint64_t now_ns, uint64_t *deadline_ns) {
    struct sampler *sampler = c->run.sampler;
    uint64_t calls = sampler_calls(sampler), interrupts = sampler_interrupts(sampler);
    bool opening = sampler_is_opening(sampler);
    self_step_begin(c->self);
    bool over = sampler_step(sampler, now_ns, deadline_ns);
    calls = sampler_calls(sampler) - calls;
    interrupts = sampler_interrupts(sampler) - interrupts;
    if (opening)
        self_change_end(c->self, calls, interrupts);
    else
        self_step_end(c->self, calls, interrupts);
    return over;
}

void collector_stop(struct collector *c) {
    struct sampler *sampler = c->run.sampler;
    if (!sampler)
        return;
    uint64_t calls = sampler_calls(sampler), interrupts = sampler_interrupts(sampler);
    c->next_round = sampler_next_round(sampler);
    self_step_begin(c->self);
    sampler_stop(sampler);
    self_change_end(c->self, sampler_calls(sampler) - calls, sampler_interrupts(sampler) - interrupts);
    c->stopped = c->run;
    c->run = (struct run){0};
}

const struct sampler *collector_sampler(const struct collector *c) { return c->run.sampler; }

// ---- looking for counters ----

int collector_probe(struct collector *c, const struct topology *topology) {
    const struct source *source = c->source;
    bool *usable = calloc(source->catalog->n_events, sizeof *usable);
    if (!usable)
        return -ENOMEM;
    source_choose_probe_events(source, usable);
    collector_stop(c);
    int r = probe_new(source->catalog, usable, topology, c->pmu, &c->probe);
    free(usable);
    const struct catalog_event *watchdog = source_watchdog_event(source);
    if (r == 0 && watchdog)
        probe_ask(c->probe, &watchdog->code);
    return r;
}

static int take_answer(struct collector *c) {
    int error = probe_error(c->probe), counters = error < 0 ? error : (int)probe_counters(c->probe);
    if (counters > 0 && source_watchdog_event(c->source))
        source_note_watchdog(c->source, !probe_runs_beside(c->probe));
    c->probe = probe_free(c->probe);
    return counters;
}

bool collector_step_probe(struct collector *c, uint64_t now_ns, uint64_t *deadline_ns, int *counters) {
    uint64_t calls = probe_calls(c->probe), interrupts = probe_interrupts(c->probe);
    self_step_begin(c->self);
    bool answered = probe_step(c->probe, now_ns, deadline_ns);
    self_change_end(c->self, probe_calls(c->probe) - calls, probe_interrupts(c->probe) - interrupts);
    if (answered)
        *counters = take_answer(c);
    return answered;
}

bool collector_is_probing(const struct collector *c) { return c->probe; }

// ---- letting go ----

static void stop_probe(struct collector *c) {
    uint64_t calls = closer_calls(c->closer);
    self_step_begin(c->self);
    c->probe = probe_release(c->probe, c->closer);
    calls = closer_calls(c->closer) - calls;
    self_change_end(c->self, calls, calls);
}

void collector_let_go(struct collector *c) {
    stop_probe(c);
    collector_stop(c);
    close_stopped(c);
}

void collector_step_closer(struct collector *c, uint64_t now_ns) {
    if (!closer_is_busy(c->closer))
        return;
    uint64_t calls = closer_calls(c->closer);
    self_step_begin(c->self);
    closer_step(c->closer, now_ns);
    calls = closer_calls(c->closer) - calls;
    self_change_end(c->self, calls, calls);
}

bool collector_is_closing(const struct collector *c) { return closer_is_busy(c->closer); }
