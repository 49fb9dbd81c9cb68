// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "collectors/pmu/pace.h"
#include "daemon/base/log.h"
#include "daemon/engine/measure_kept.h"
#include "daemon/engine/measure_plan.h"
#include "daemon/engine/measure_reload.h"
#include "daemon/engine/measure_round.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);
static const uint64_t PROBE_UNPAID_NS = UINT64_C(20000000000); // since the last probe
static const uint64_t RECORD_NS = 1000000;                     // between two pieces of a recording

// A step or a request: an action's input, and its output for the caller.
struct moment {
    uint64_t now_ns;
    uint64_t deadline_ns;      // time of the next call
    struct snapshot *snapshot; // NULL: nothing new
    double yield_seconds;      // requested time without counters
    int counters;              // the probe's answer; 0: none is free; or a negative errno
    struct topology *topology; // of the CPUs to measure from now on
};

static struct measure *of(struct engine *engine) { return (struct measure *)engine; }

// ---- looking for counters ----

// Starts a probe, which runs in steps. topdownd holds no counters meanwhile.
static int start_probe(struct measure *m) {
    trials_stop(m->trials);
    return collector_probe(m->collector, m->type->topology);
}

static bool must_wait(const struct measure *m, struct moment *moment) {
    bool closing = collector_is_closing(m->collector);
    if (closing)
        moment->deadline_ns = UINT64_MAX; // set by the caller
    return closing;
}

static int step_probe(struct measure *m, struct moment *moment) {
    if (must_wait(m, moment))
        return MEASURE_NOTHING;
    bool over = collector_step_probe(m->collector, moment->now_ns, &moment->deadline_ns, &moment->counters);
    return over ? MEASURE_ANSWER : MEASURE_NOTHING;
}

static int make_first_plan(struct measure *m, struct moment *moment) {
    int counters = moment->counters;
    (void)follow_answer(&m->follow, counters, moment->now_ns);
    m->none_free = counters == 0;
    if (counters < 0)
        source_note_open_error(m->type->source, counters, m->type->topology->n_cpus, 0);
    else if (counters == 0)
        source_log_counters(m->type->source, true,
                            "no counter can be had now: others hold them (perf, a guest's PMU, the NMI watchdog)");
    int r = measure_change_plan(m, m->errors);
    return r < 0 ? r : MEASURE_DUE;
}

static int begin_probe(struct measure *m, struct moment *moment) {
    (void)moment;
    int r = start_probe(m);
    return r < 0 ? r : MEASURE_DUE;
}

static int follow_counters(struct measure *m, struct moment *moment) {
    int r = measure_follow_counters(m, moment->counters, moment->now_ns);
    return r < 0 ? r : MEASURE_DUE;
}

// ---- measuring ----

static struct trials_host host_of(const struct measure *m) {
    return (struct trials_host){.pmu = collector_pmu(m->collector),
                                .self = m->self,
                                .layout = m->stage.layout,
                                .sampler = collector_sampler(m->collector)};
}

static int step_sampler(struct measure *m, struct moment *moment) {
    if (must_wait(m, moment))
        return MEASURE_NOTHING;
    const struct trials_host host = host_of(m);
    trials_end_group(m->trials, &host, moment->now_ns);
    double cost = self_rotation_cost(m->self);
    bool round_over = collector_step(m->collector, moment->now_ns, &moment->deadline_ns);
    m->pace.cost += self_rotation_cost(m->self) - cost;
    trials_step(m->trials, &host, moment->now_ns, &moment->deadline_ns);
    return round_over ? MEASURE_ROUND_OVER : MEASURE_NOTHING;
}

// Changes wait for the next step, because this step's snapshot belongs to the current view.
static int finish_round(struct measure *m, struct moment *moment) {
    moment->snapshot = measure_end_round(m, moment->now_ns);
    moment->deadline_ns = moment->now_ns;
    return MEASURE_NOTHING;
}

// ---- looking around ----

// A probe waits until the last changes are paid, but not for long: what others took or gave back must be found, and
// probes that find nothing new get rarer by themselves.
static bool probe_is_due(const struct measure *m, uint64_t now_ns, bool may_change) {
    return follow_should_probe(&m->follow, now_ns) &&
           (may_change || now_ns - m->follow.probe.looked_ns > PROBE_UNPAID_NS);
}

static int look_for_cpus(struct measure *m, struct moment *moment) {
    int found = measure_find_cpus(m, moment->now_ns, &moment->topology);
    return found < 0 ? found : found > 0 ? MEASURE_CPUS : MEASURE_SETTLED;
}

// Checks in this order, and again after each change; each check finds a change at most once per look. Within a round
// only CPUs that came or must be let go: a change loses what the unfinished round has counted, and long rounds with
// changes in quick succession would never end.
static int look_around(struct measure *m, struct moment *moment) {
    if (!sampler_readings(collector_sampler(m->collector))->round_over)
        return look_for_cpus(m, moment);
    bool may_change = self_may_change(m->self, moment->now_ns);
    if ((m->due.adapt || m->due.evidence) && may_change)
        return MEASURE_BOTTLENECK;
    if (measure_watchdog_changed(m, moment->now_ns) || probe_is_due(m, moment->now_ns, may_change))
        return MEASURE_COUNTERS;
    if (trials_changed(m->trials))
        return MEASURE_TRIED;
    if (m->due.dead && may_change)
        return MEASURE_DEAD;
    const struct trials_host host = host_of(m);
    const struct stage_request request = measure_request(m);
    int r = may_change ? trials_begin(m->trials, &host, &request, moment->now_ns) : 0;
    if (r < 0)
        return r;
    if (measure_budget_changed(m, moment->now_ns))
        return MEASURE_BUDGET;
    return look_for_cpus(m, moment);
}

static int follow_bottleneck(struct measure *m, struct moment *moment) {
    (void)moment;
    int r = measure_follow_bottleneck(m);
    return r < 0 ? r : MEASURE_DUE;
}

static int follow_trial(struct measure *m, struct moment *moment) {
    (void)moment;
    int r = measure_follow_trial(m);
    return r < 0 ? r : MEASURE_DUE;
}

static int follow_dead(struct measure *m, struct moment *moment) {
    (void)moment;
    int r = measure_follow_dead(m);
    return r < 0 ? r : MEASURE_DUE;
}

static int follow_budget(struct measure *m, struct moment *moment) {
    (void)moment;
    int r = measure_follow_budget(m);
    return r < 0 ? r : MEASURE_DUE;
}

static int follow_cpus(struct measure *m, struct moment *moment) {
    int r = measure_follow_cpus(m, moment->topology);
    return r < 0 ? r : MEASURE_DUE;
}

// The unfinished rounds are lost, as over any change of plan.
static int change_setup(struct measure *m, struct moment *moment) {
    (void)moment;
    measure_take_over(m);
    return collector_start(m->collector, m->stage.layout);
}

// What counts afterwards begins when the time without counters is over.
static int change_setup_later(struct measure *m, struct moment *moment) {
    (void)moment;
    measure_take_over(m);
    return MEASURE_NOTHING;
}

static int go_on(struct measure *m, struct moment *moment) {
    (void)m;
    (void)moment;
    return MEASURE_DUE;
}

// ---- yielding ----

static int hand_over(struct measure *m, struct moment *moment) {
    trials_stop(m->trials);
    collector_let_go(m->collector); // a probe starts again if counters are still missing afterwards
    m->yielded.shown_ns = moment->now_ns;
    m->yielded.until_ns = moment->now_ns + (uint64_t)(moment->yield_seconds * (double)SECOND_NS);
    blind_excuse(&m->blind);
    return MEASURE_NOTHING;
}

static int shorten_yield(struct measure *m, struct moment *moment) {
    m->yielded.until_ns = moment->now_ns;
    return MEASURE_NOTHING;
}

// Makes a snapshot a second, so that pages never show stale values.
static int step_yielded(struct measure *m, struct moment *moment) {
    bool over = moment->now_ns >= m->yielded.until_ns;
    uint64_t next_ns = moment->now_ns + SECOND_NS;
    if (!over && moment->now_ns < m->yielded.shown_ns) {
        moment->deadline_ns = m->yielded.shown_ns;
        return MEASURE_NOTHING;
    }
    struct recording_pause pause = {.until_ns = moment->now_ns, .reason = UNCOVERED_YIELDED, .timestamp_seconds = NAN};
    derive_pause(m->stage.derive, moment->now_ns, UNCOVERED_YIELDED);
    if (!over)
        moment->snapshot = measure_present(m);
    if (moment->snapshot)
        pause.timestamp_seconds = moment->snapshot->taken_seconds;
    record_pause(m->record, &pause);
    m->yielded.shown_ns = next_ns < m->yielded.until_ns ? next_ns : m->yielded.until_ns;
    moment->deadline_ns = m->yielded.shown_ns;
    return over ? MEASURE_YIELD_OVER : MEASURE_NOTHING;
}

static int end_yield(struct measure *m, struct moment *moment) {
    (void)moment;
    log_info("%sthe counters are no longer handed over: measuring again", measure_prefix(m));
    int r = collector_start(m->collector, m->stage.layout);
    return r < 0 ? r : MEASURE_DUE;
}

// ---- the table at work ----

static int ignore(struct measure *m, struct moment *moment) {
    (void)m;
    (void)moment;
    return MEASURE_NOTHING;
}

static int refuse_yield(struct measure *m, struct moment *moment) {
    (void)m;
    (void)moment;
    return -EAGAIN;
}

// Each returns the next happening of the same step, MEASURE_NOTHING, or a negative errno.
static int (*const ACTIONS[MEASURE_ACTION_N])(struct measure *m, struct moment *moment) = {
    [MEASURE_IGNORE] = ignore,
    [MEASURE_REFUSE] = refuse_yield,
    [MEASURE_STEP_PROBE] = step_probe,
    [MEASURE_STEP_SAMPLER] = step_sampler,
    [MEASURE_STEP_YIELDED] = step_yielded,
    [MEASURE_LOOK_AROUND] = look_around,
    [MEASURE_MAKE_FIRST_PLAN] = make_first_plan,
    [MEASURE_FOLLOW_COUNTERS] = follow_counters,
    [MEASURE_FINISH_ROUND] = finish_round,
    [MEASURE_HAND_OVER] = hand_over,
    [MEASURE_SHORTEN_YIELD] = shorten_yield,
    [MEASURE_END_YIELD] = end_yield,
    [MEASURE_BEGIN_PROBE] = begin_probe,
    [MEASURE_FOLLOW_BOTTLENECK] = follow_bottleneck,
    [MEASURE_FOLLOW_TRIAL] = follow_trial,
    [MEASURE_FOLLOW_DEAD] = follow_dead,
    [MEASURE_FOLLOW_BUDGET] = follow_budget,
    [MEASURE_FOLLOW_CPUS] = follow_cpus,
    [MEASURE_CHANGE_SETUP] = change_setup,
    [MEASURE_CHANGE_SETUP_LATER] = change_setup_later,
    [MEASURE_GO_ON] = go_on,
};

static int happen(struct measure *m, int happening, struct moment *moment) {
    while (happening > MEASURE_NOTHING) {
        struct measure_rule rule = measure_rule(m->state, (enum measure_happening)happening);
        assert(rule.action != MEASURE_NEVER);
        m->state = rule.next;
        happening = ACTIONS[rule.action](m, moment);
    }
    return happening;
}

static int step(struct engine *engine, uint64_t now_ns, uint64_t *deadline_ns, struct snapshot **out) {
    struct measure *m = of(engine);
    struct moment moment = {.now_ns = now_ns, .deadline_ns = now_ns};
    collector_step_closer(m->collector, now_ns);
    int r = happen(m, MEASURE_DUE, &moment);
    if (collector_is_closing(m->collector) && moment.deadline_ns > now_ns + PACE_NS)
        moment.deadline_ns = now_ns + PACE_NS;
    if (r == 0 && record_step(m->record, moment.deadline_ns) && moment.deadline_ns > now_ns + RECORD_NS)
        moment.deadline_ns = now_ns + RECORD_NS;
    *deadline_ns = moment.deadline_ns;
    *out = moment.snapshot;
    return r;
}

static int yield_counters(struct engine *engine, uint64_t now_ns, double seconds) {
    struct moment moment = {.now_ns = now_ns, .yield_seconds = seconds};
    return happen(of(engine), seconds > 0 ? MEASURE_YIELD : MEASURE_TAKE_BACK, &moment);
}

static int prepare(struct engine *engine, const struct engine_change *change, struct errors *errors) {
    return measure_prepare(of(engine), change, errors);
}

static void abandon(struct engine *engine) { measure_abandon(of(engine)); }

static int change(struct engine *engine, uint64_t now_ns) {
    struct moment moment = {.now_ns = now_ns};
    return happen(of(engine), MEASURE_RELOAD, &moment);
}

static struct snapshot *present_snapshot(struct engine *engine) { return measure_present(of(engine)); }

static struct view *present_view(const struct engine *engine) { return ((const struct measure *)engine)->stage.view; }

static void refresh(struct engine *engine) {
    if (of(engine)->stage.view)
        measure_refresh_view(of(engine));
}

static void attend(struct engine *engine, struct readers *readers) { of(engine)->readers = readers; }

static void keep(const struct engine *engine, struct kept_verdicts *out) {
    measure_keep((const struct measure *)engine, out);
}
static void restore(struct engine *engine, const struct kept_verdicts *kept) { measure_restore(of(engine), kept); }

static void take_memory(struct engine *engine, struct host_memory *memory) {
    record_memory(of(engine)->record, memory);
}

// ---- making ----

static struct engine *free_measure(struct engine *engine) {
    struct measure *m = of(engine);
    measure_abandon(m);
    record_free(m->record);
    dead_free(m->dead);
    trials_free(m->trials);
    collector_free(m->collector);
    stage_deinit(&m->stage);
    evidence_free(m->evidence);
    adapt_free(m->adapt);
    free(m);
    return NULL;
}

// Events that take counters must wait for the probe's answer.
static int begin(struct measure *m) {
    const struct source *source = m->type->source;
    if (!source->takes_counters) {
        follow_init(&m->follow, 0);
        m->state = MEASURE_MEASURING;
        return measure_change_plan(m, m->errors);
    }
    // 1 if the spec does not say, as nothing else is known yet
    follow_init(&m->follow, source->general_counters > 0 ? source->general_counters : 1);
    m->state = MEASURE_FINDING;
    int r = trials_new(source->catalog, &m->trials);
    if (r == 0)
        r = dead_new(source->catalog, &m->dead);
    return r < 0 ? r : start_probe(m);
}

// What boxes count is recorded with the first core type.
static int new_record(struct measure *m, const struct measure_request *request, struct errors *errors) {
    const struct setup *setup = request->setup;
    struct record *first = request->first ? measure_record(of(request->first)) : NULL;
    if (!setup->record_path)
        return 0;
    if (!request->type->topology->boxes)
        return record_new(setup, request->type, m->seed, m->self->clocks, errors, &m->record);
    return first ? record_new_boxes(first, setup, request->type, m->seed, &m->record) : 0;
}

int measure_new(const struct measure_request *request, struct errors *errors, struct engine **out) {
    static const struct engine_ops ops = {.step = step,
                                          .view = present_view,
                                          .snapshot = present_snapshot,
                                          .yield = yield_counters,
                                          .refresh = refresh,
                                          .attend = attend,
                                          .record_memory = take_memory,
                                          .prepare = prepare,
                                          .abandon = abandon,
                                          .change = change,
                                          .keep = keep,
                                          .restore = restore,
                                          .free = free_measure};
    const struct setup *setup = request->setup;
    struct core_type *type = request->type;
    struct measure *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    *m = (struct measure){.engine.ops = &ops,
                          .setup = setup,
                          .type = type,
                          .self = request->self,
                          .told.newest = request->newest,
                          .seed = request->seed,
                          .errors = errors};
    budget_boxes_init(&m->pace.boxes, (double)request->now_ns * 1e-9);
    const struct collector_request collector = {.source = type->source,
                                                .self = request->self,
                                                .interval_ns = setup_interval_ns(setup),
                                                .told_pause_ns = setup_told_pause_ns(setup),
                                                .seed = request->seed,
                                                .now_ns = request->now_ns};
    type->source->newest = request->newest;
    int r = collector_new(&collector, errors, &m->collector);
    if (r == 0 && setup->profile->settings.mode == CONFIG_MODE_ADAPTIVE && !type->topology->boxes)
        r = adapt_new(type->source->catalog, type->selections, type->n_selections, &m->adapt);
    if (r == 0 && setup_fetches(setup, type))
        r = evidence_new(type->source->catalog, &m->evidence);
    if (r == 0)
        r = new_record(m, request, errors);
    if (r == 0)
        r = begin(m);
    if (r < 0) {
        free_measure(&m->engine);
        return r;
    }
    *out = &m->engine;
    return 0;
}
