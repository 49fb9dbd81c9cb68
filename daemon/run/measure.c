// SPDX-License-Identifier: Apache-2.0
#include "daemon/run/measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

#include "collectors/pmu/probe.h"
#include "collectors/pmu/sampler.h"
#include "core/adapt/adapt.h"
#include "daemon/base/log.h"
#include "daemon/base/self.h"
#include "daemon/run/record.h"
#include "daemon/run/stage.h"
#include "daemon/run/summary.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);
static const uint64_t CPUS_NS = UINT64_C(5000000000); // between looks for CPUs that came online

static const uint64_t RECORD_NS = 1000000; // between two pieces of a recording

struct measure {
    const struct setup *setup;
    struct core_type *type;
    struct pmu *pmu;
    uint64_t seed;
    struct follow follow; // how many general counters there are
    bool none_free;       // others held all of them when they were last looked for
    uint64_t cpus_ns;     // when CPUs were last looked for

    struct stage stage;      // of the present plan
    struct sampler *sampler; // NULL while the counters are looked for, or handed over
    uint64_t next_round;     // where a new sampler goes on
    struct probe *probe;     // NULL while they are not looked for
    struct errors *errors;   // borrowed, until there is a first plan

    struct record *record; // NULL: nothing is recorded
    struct self *self;     // borrowed
    double slot_factor;    // of the present plan, as the budget said
    struct adapt *adapt;   // NULL: the schedule is fixed
    bool adapt_due;        // it asks for another plan
    bool pmu_up, round_over;
    uint64_t yielded_until_ns; // 0: not handed over
};

static const char *prefix(const struct measure *m) { return m->type->source->prefix; }

// ---- a plan and all that belongs to it ----

static struct stage_request request_of(const struct measure *m) {
    return (struct stage_request){.setup = m->setup,
                                  .type = m->type,
                                  .seed = m->seed,
                                  .follow = m->follow,
                                  .none_free = m->none_free,
                                  .slot_factor = m->self->budget.factor,
                                  .adapt = m->adapt,
                                  .recording = record_path(m->record)};
}

static void refresh_view(struct measure *m) {
    struct stage_request request = request_of(m);
    stage_refresh_view(&m->stage, &request);
    record_view(m->record, m->stage.view);
}

static int start_sampler(struct measure *m) {
    return sampler_new(m->stage.layout->plan, m->stage.layout->topology, m->pmu, m->seed, m->next_round, &m->sampler);
}

// Lets go of all counters.
static void stop_sampler(struct measure *m) {
    if (m->sampler)
        m->next_round = sampler_next_round(m->sampler);
    m->sampler = sampler_free(m->sampler);
}

// Makes a plan for the present counters and goes on under it; on failure the old one stays.
static int change_plan(struct measure *m, struct errors *errors) {
    struct stage stage;
    struct stage_request request = request_of(m);
    int r = stage_init(&stage, &request, &m->stage, errors);
    if (r < 0)
        return r;
    stop_sampler(m);
    stage_deinit(&m->stage);
    m->stage = stage;
    m->slot_factor = request.slot_factor;
    record_plan(m->record, stage.view);
    return start_sampler(m);
}

// CPUs that were offline at the start are measured from when they come online.
static int follow_cpus(struct measure *m) {
    if (self_monotonic_ns() - m->cpus_ns < CPUS_NS)
        return 0;
    m->cpus_ns = self_monotonic_ns();
    struct topology *topology, *before = m->type->topology;
    const struct config_settings *settings = &m->setup->profile->settings;
    int r = source_topology_update(m->type->source, settings->cpus_all ? NULL : &settings->cpus, before, &topology);
    if (r <= 0)
        return r;
    struct errors errors = {0};
    m->type->topology = topology;
    r = change_plan(m, &errors);
    log_errors(&errors);
    if (r < 0) {
        m->type->topology = before;
        topology_free(topology);
        return r == -EINVAL ? 0 : r;
    }
    log_info("%s%zu CPUs are measured instead of %zu: some have come online", prefix(m), topology->n_cpus,
             before->n_cpus);
    topology_free(before);
    return 0;
}

// Makes slots longer or shorter where the budget says so; all types of cores have the same one.
static int follow_budget(struct measure *m) {
    const struct budget *budget = &m->self->budget;
    (void)self_follow_budget(m->self);
    if (budget->factor == m->slot_factor)
        return 0;
    m->slot_factor = budget->factor; // also where no other plan can be made: not tried again
    struct errors errors = {0};
    int r = change_plan(m, &errors);
    log_errors(&errors);
    if (r == 0)
        log_info("%smeasuring used %.0f %% of its budget: a slot is %.0f ms from now on", prefix(m), budget->used * 100,
                 (double)m->stage.layout->plan->slot_ns * 1e-6);
    return r == -EINVAL ? 0 : r;
}

// Gives more of the round to what the last round says to look at.
static int follow_bottleneck(struct measure *m) {
    if (!m->adapt_due)
        return 0;
    m->adapt_due = false;
    struct errors errors = {0};
    int r = change_plan(m, &errors);
    log_errors(&errors);
    stage_log_decisions(m->type->source, adapt_report(m->adapt));
    return r == -EINVAL ? 0 : r;
}

static void note_none_free(struct measure *m, bool none_free) {
    if (none_free == m->none_free)
        return;
    m->none_free = none_free;
    if (none_free)
        log_warning(
            "%sothers hold all counters: what is missing is uncovered time, and measuring goes on when they let go",
            prefix(m));
    else
        log_info("%scounters can be had again", prefix(m));
    refresh_view(m);
}

// ---- how many counters there are ----

// Looks for them from now on, in steps. Nothing of ours may hold any meanwhile.
static int begin_probe(struct measure *m) {
    const struct source *source = m->type->source;
    bool *usable = calloc(source->catalog->n_events, sizeof *usable);
    if (!usable)
        return -ENOMEM;
    for (size_t e = 0; e < source->catalog->n_events; e++)
        usable[e] = (source->support[e] == PLAN_SUPPORT_UNKNOWN || source->support[e] == PLAN_SUPPORTED) &&
                    !source_watchdog_holds(source, e);
    stop_sampler(m);
    int r = probe_new(source->catalog, usable, m->type->topology, m->pmu, &m->probe);
    free(usable);
    return r;
}

// `counters`: what was found, 0: none, or a negative errno.
static int make_first_plan(struct measure *m, int counters) {
    follow_answer(&m->follow, counters, self_monotonic_ns());
    m->none_free = counters == 0;
    if (counters < 0)
        source_note_open_error(m->type->source, counters, m->type->topology->n_cpus, 0);
    else if (counters == 0)
        log_warning("%sno counter can be had now: others hold them (perf, a guest's PMU, the NMI watchdog)", prefix(m));
    return change_plan(m, m->errors);
}

static int follow_counters(struct measure *m, int counters) {
    struct follow before = m->follow;
    note_none_free(m, counters == 0);
    if (!follow_answer(&m->follow, counters, self_monotonic_ns()))
        return start_sampler(m);
    struct snapshot_layout *old = snapshot_layout_ref(m->stage.layout);
    struct errors errors = {0};
    int r = change_plan(m, &errors);
    if (r == 0)
        stage_log_change(m->type->source, old->plan, m->stage.layout->plan);
    else
        m->follow.counters = before.counters;
    log_errors(&errors);
    snapshot_layout_unref(old);
    return r == -EINVAL ? start_sampler(m) : r;
}

static int step_probe(struct measure *m, uint64_t *deadline_ns) {
    if (!probe_step(m->probe, self_monotonic_ns(), deadline_ns))
        return 0;
    int error = probe_error(m->probe), counters = error < 0 ? error : (int)probe_counters(m->probe);
    m->probe = probe_free(m->probe);
    return m->stage.layout ? follow_counters(m, counters) : make_first_plan(m, counters);
}

// ---- making ----

// Events that take counters have to wait for the probe's answer.
static int begin(struct measure *m) {
    const struct source *source = m->type->source;
    if (!source_takes_counters(source)) {
        follow_init(&m->follow, 0);
        return change_plan(m, m->errors);
    }
    // 1: the spec does not say, and nothing else is known yet
    follow_init(&m->follow, source->general_counters > 0 ? source->general_counters : 1);
    return begin_probe(m);
}

int measure_new(const struct setup *setup, struct core_type *type, struct self *self, struct errors *errors,
                struct measure **out) {
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->setup = setup;
    m->type = type;
    m->self = self;
    m->errors = errors;
    int r = getrandom(&m->seed, sizeof m->seed, 0) == sizeof m->seed ? 0 : -EIO;
    if (r == 0)
        r = source_pmu(type->source, self_monotonic_ns(), errors, &m->pmu);
    if (r == 0 && setup->profile->settings.mode == CONFIG_MODE_ADAPTIVE)
        r = adapt_new(type->source->catalog, type->selections, type->n_selections, &m->adapt);
    if (r == 0 && setup->record_path)
        r = record_new(setup, type, m->seed, errors, &m->record);
    if (r == 0)
        r = begin(m);
    if (r < 0) {
        measure_free(m);
        return r;
    }
    *out = m;
    return 0;
}

struct measure *measure_free(struct measure *m) {
    if (m) {
        record_free(m->record);
        probe_free(m->probe);
        sampler_free(m->sampler);
        stage_deinit(&m->stage);
        adapt_free(m->adapt);
        if (m->pmu)
            m->pmu->ops->free(m->pmu);
        free(m);
    }
    return NULL;
}

// ---- steps ----

static size_t files_needed(const struct measure *m) {
    size_t n = 0;
    for (size_t g = 0; g < m->stage.layout->plan->n_groups; g++)
        n += m->stage.layout->plan->groups[g].n_events;
    return n * m->type->topology->n_cpus;
}

// Says once what the kernel refuses, and once that it no longer does.
static void note_open_error(struct measure *m) {
    size_t n_failed;
    int error = sampler_open_error(m->sampler, &n_failed);
    if (source_note_open_error(m->type->source, error == -ENODEV ? 0 : error, n_failed, files_needed(m)))
        refresh_view(m);
}

// A plan without event groups asks nothing of the PMU, so nothing is known of it.
static void fill_self(struct measure *m, struct snapshot *snapshot) {
    double pmu_up = m->stage.layout->plan->n_units > 0 ? m->pmu_up : NAN;
    self_fill(m->self, &m->type->source->roots, pmu_up, snapshot);
}

static struct snapshot *finish_round(struct measure *m) {
    const struct readings *readings = sampler_readings(m->sampler);
    struct snapshot *snapshot = snapshot_new(m->stage.layout);
    derive_round(m->stage.derive, readings, snapshot);
    m->pmu_up = summary_counted(readings);
    follow_round(&m->follow, m->stage.layout->plan, readings);
    if (!m->follow.starving)
        note_none_free(m, false);
    note_open_error(m);
    if (!snapshot) {
        record_round(m->record, readings, self_realtime_seconds());
        log_error("no memory for a snapshot: this round is in the totals, but not shown");
        return NULL;
    }
    fill_self(m, snapshot);
    record_round(m->record, readings, snapshot->values[snapshot_self(snapshot->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)]);
    record_fill(m->record, snapshot);
    diagnosis_round(m->stage.diagnosis, snapshot);
    if (m->adapt && adapt_round(m->adapt, m->stage.diagnosis, snapshot))
        m->adapt_due = true;
    watch_round(m->stage.watch, snapshot, sampler_round_error(m->sampler));
    return snapshot;
}

struct snapshot *measure_snapshot(struct measure *m) {
    struct snapshot *snapshot = snapshot_new(m->stage.layout);
    if (!snapshot)
        return NULL;
    derive_initial(m->stage.derive, snapshot);
    if (m->yielded_until_ns > 0)
        stage_mark_yielded(snapshot);
    fill_self(m, snapshot);
    record_fill(m->record, snapshot);
    return snapshot;
}

// While the counters are handed over: a snapshot a second, so that nothing stale is shown.
static int step_yielded(struct measure *m, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out) {
    struct recording_pause pause = {.until_ns = now_ns, .reason = UNCOVERED_YIELDED, .timestamp_seconds = NAN};
    derive_pause(m->stage.derive, now_ns, UNCOVERED_YIELDED);
    if (now_ns < m->yielded_until_ns)
        *out = measure_snapshot(m);
    if (*out)
        pause.timestamp_seconds = (*out)->values[snapshot_self((*out)->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)];
    record_pause(m->record, &pause);
    if (now_ns < m->yielded_until_ns) {
        *deadline_ns = now_ns + SECOND_NS < m->yielded_until_ns ? now_ns + SECOND_NS : m->yielded_until_ns;
        return 0;
    }
    log_info("%sthe counters are no longer handed over: measuring again", prefix(m));
    m->yielded_until_ns = 0;
    return start_sampler(m);
}

// After a round: follows what the host does. Where the plan changes, so do sampler and view.
static int look_around(struct measure *m) {
    int r = follow_bottleneck(m);
    if (r == 0 && follow_should_probe(&m->follow, self_monotonic_ns()))
        return begin_probe(m);
    if (r == 0)
        r = follow_budget(m);
    return r == 0 ? follow_cpus(m) : r;
}

static int step(struct measure *m, uint64_t *deadline_ns, struct snapshot **out) {
    int r = 0;
    if (m->yielded_until_ns > 0)
        r = step_yielded(m, self_monotonic_ns(), deadline_ns, out);
    else if (m->round_over)
        r = look_around(m);
    m->round_over = false;
    if (r == 0 && m->probe)
        r = step_probe(m, deadline_ns);
    if (r < 0 || m->probe || m->yielded_until_ns > 0)
        return r;
    uint64_t calls = sampler_calls(m->sampler), interrupts = sampler_interrupts(m->sampler);
    self_step_begin(m->self);
    m->round_over = sampler_step(m->sampler, self_monotonic_ns(), deadline_ns);
    self_step_end(m->self, sampler_calls(m->sampler) - calls, sampler_interrupts(m->sampler) - interrupts);
    if (m->round_over) {
        *out = finish_round(m);
        *deadline_ns = self_monotonic_ns(); // to look around: not now, because the snapshot belongs to the present view
    }
    return 0;
}

int measure_step(struct measure *m, uint64_t *deadline_ns, struct snapshot **out) {
    *out = NULL;
    int r = step(m, deadline_ns, out);
    uint64_t now_ns = self_monotonic_ns(), soon_ns = now_ns + RECORD_NS;
    if (r == 0 && record_step(m->record, now_ns, *deadline_ns) && *deadline_ns > soon_ns)
        *deadline_ns = soon_ns;
    return r;
}

void measure_yield(struct measure *m, double seconds) {
    uint64_t now_ns = self_monotonic_ns();
    if (seconds <= 0 && m->yielded_until_ns == 0)
        return;
    m->probe = probe_free(m->probe); // begun again when they are still missed afterwards
    stop_sampler(m);
    m->yielded_until_ns = now_ns + (uint64_t)(seconds * (double)SECOND_NS);
    m->pmu_up = false;
}

struct view *measure_view(const struct measure *m) {
    return m->stage.view;
}
