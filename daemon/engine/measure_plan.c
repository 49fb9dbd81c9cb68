// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/measure_plan.h"

#include <errno.h>
#include <stdio.h>

#include "core/host/topology.h"
#include "daemon/base/log.h"
#include "daemon/engine/measure_fetched.h"

static const uint64_t CPUS_NS = UINT64_C(5000000000); // between two checks for CPUs that come and go

static const uint64_t WATCHDOG_NS = UINT64_C(60000000000);

enum { CPU_LIST_MAX = 200, REACTION_MAX = 64 };

const char *measure_prefix(const struct measure *m) { return m->type->source->prefix; }

// ---- a plan and all that belongs to it ----

double measure_slot_factor(const struct measure *m) {
    return m->type->topology->boxes ? m->pace.boxes.factor : m->self->budget.factor;
}

struct stage_request measure_request(const struct measure *m) {
    return (struct stage_request){.setup = m->setup,
                                  .type = m->type,
                                  .seed = m->seed,
                                  .follow = m->follow,
                                  .none_free = m->none_free,
                                  .slot_factor = measure_slot_factor(m),
                                  .adapt = m->adapt,
                                  .evidence = m->evidence,
                                  .fetched_files = measure_fetched_files(m),
                                  .dead = dead_events(m->dead),
                                  .findings = trials_findings(m->trials),
                                  .recording = record_path(m->record)};
}

void measure_refresh_view(struct measure *m) {
    struct stage_request request = measure_request(m);
    stage_refresh_view(&m->stage, &request);
    record_view(m->record, m->stage.view);
}

// The first plan is the start's: charged, it would delay the first probes. Only boxes may get theirs later, when
// others are measured already.
static bool plan_is_of_start(const struct measure *m) {
    return !m->stage.layout && (m->self->status.rotations.n == 0 || !m->type->topology->boxes);
}

static int make_plan(const struct measure *m, const struct stage_request *request, struct errors *errors,
                     struct stage *out) {
    self_step_begin(m->self);
    int r = stage_init(out, request, &m->stage, errors);
    if (!plan_is_of_start(m))
        self_change_end(m->self, 0, 0);
    return r;
}

int measure_change_plan(struct measure *m, struct errors *errors) {
    struct stage stage;
    struct stage_request request = measure_request(m);
    int r = make_plan(m, &request, errors, &stage);
    if (r < 0)
        return r;
    trials_stop(m->trials);
    collector_stop(m->collector);
    follow_plan_changed(&m->follow);
    stage_deinit(&m->stage);
    m->stage = stage;
    m->pace.slot_factor = request.slot_factor;
    record_plan(m->record, stage.view);
    return collector_start(m->collector, m->stage.layout);
}

// ---- changes of the host ----

int measure_find_cpus(struct measure *m, uint64_t now_ns, struct topology **out) {
    const struct config_settings *settings = &m->setup->profile->settings;
    if (now_ns - m->looked.cpus_ns < CPUS_NS)
        return 0;
    m->looked.cpus_ns = now_ns;
    int r =
        source_topology_update(m->type->source, settings->cpus_all ? NULL : &settings->cpus, m->type->topology, out);
    if (r == -EINVAL && !m->looked.all_isolated)
        log_warning("%sall CPUs are isolated: those that were not are measured on until topdownd is restarted",
                    measure_prefix(m));
    m->looked.all_isolated = r == -EINVAL;
    return r == -EINVAL ? 0 : r;
}

bool measure_watchdog_changed(struct measure *m, uint64_t now_ns) {
    if (now_ns - m->looked.watchdog_ns < WATCHDOG_NS)
        return false;
    m->looked.watchdog_ns = now_ns;
    return source_look_at_watchdog(m->type->source);
}

// The plan does not know what a probe has told of the NMI watchdog.
static bool watchdog_is_news(const struct measure *m) {
    const struct source *source = m->type->source;
    bool held = source->nmi_watchdog && source->catalog->watchdog_event >= 0;
    return held != (m->stage.layout->plan->pmu.fixed_taken != 0);
}

static void log_cpus(const struct measure *m, const struct topology *before, const struct topology *now) {
    char list[CPU_LIST_MAX];
    if (topology_list_missing(before, now, list, sizeof list) > 0)
        log_info("%s%zu CPUs are measured instead of %zu: isolated CPUs are left alone (%s)", measure_prefix(m),
                 now->n_cpus, before->n_cpus, list);
    if (topology_list_missing(now, before, list, sizeof list) > 0)
        log_info("%s%zu CPUs are measured instead of %zu: some %s (%s)", measure_prefix(m), now->n_cpus, before->n_cpus,
                 topology_count_isolated(now) < topology_count_isolated(before) ? "are no longer isolated"
                                                                                : "have come online",
                 list);
}

int measure_follow_cpus(struct measure *m, struct topology *topology) {
    struct topology *before = m->type->topology;
    struct errors errors = {0};
    m->type->topology = topology;
    int r = measure_change_plan(m, &errors);
    log_errors(&errors);
    if (r < 0) {
        m->type->topology = before;
        topology_free(topology);
        return r == -EINVAL ? 0 : r;
    }
    log_cpus(m, before, topology);
    topology_free(before);
    return 0;
}

static void log_budget(const struct measure *m, const char *reaction) {
    char used[16];
    bool boxes = m->type->topology->boxes;
    (void)snprintf(used, sizeof used, "%.0f", (boxes ? m->pace.boxes.used : m->self->budget.used) * 100);
    const struct log_field fields[] = {
        {"CORE_TYPE", m->type->source->core_type}, {"BUDGET_PERCENT", used}, {"REACTION", reaction}, {NULL, NULL}};
    log_event(LOG_EVENT_BUDGET, LOG_LEVEL_INFO, fields, "%smeasuring used %s %% of %s budget: %s", measure_prefix(m),
              used, boxes ? "the" : "its", reaction);
}

bool measure_budget_changed(struct measure *m, uint64_t now_ns) {
    (void)self_follow_budget(m->self, now_ns); // another core type's check may have changed it
    double before = m->pace.slot_factor;
    if (m->type->topology->boxes) {
        size_t n_kinds = m->setup->n_boxes > 0 ? m->setup->n_boxes : 1;
        (void)budget_boxes_update(&m->pace.boxes, &m->self->budget, (double)now_ns * 1e-9, m->pace.cost, n_kinds);
    }
    m->pace.slot_factor = measure_slot_factor(m); // even if no other plan can be made: not tried again
    if (m->type->topology->boxes)
        return m->pace.slot_factor != before;
    if (plan_n_rotating(m->stage.layout->plan) > 0)
        return m->pace.slot_factor != before;
    if (before == 1 && m->pace.slot_factor > 1) // longer slots change nothing, so this is said once
        log_budget(m, "no event group rotates here, so only a longer interval between two snapshots makes it cheaper");
    return false;
}

int measure_follow_budget(struct measure *m) {
    char reaction[REACTION_MAX];
    struct errors errors = {0};
    int r = measure_change_plan(m, &errors);
    log_errors(&errors);
    if (r == 0) {
        const struct plan *plan = m->stage.layout->plan;
        if (m->type->topology->boxes)
            (void)snprintf(reaction, sizeof reaction, "read every %.3g s from now on, and counted meanwhile",
                           (double)plan->round_ns * 1e-9);
        else
            (void)snprintf(reaction, sizeof reaction, "a slot is %.0f ms from now on", (double)plan->slot_ns * 1e-6);
        log_budget(m, reaction);
    }
    return r == -EINVAL ? 0 : r;
}

// Gives more of the round to what the last round's bottleneck points to, and measures what it asks for.
int measure_follow_bottleneck(struct measure *m) {
    bool decided = m->due.adapt;
    m->due.adapt = m->due.evidence = false;
    struct snapshot_layout *old = snapshot_layout_ref(m->stage.layout);
    struct errors errors = {0};
    int r = measure_change_plan(m, &errors);
    log_errors(&errors);
    if (r == 0 && decided)
        stage_log_decisions(m->type->source, m->stage.layout->plan, adapt_report(m->adapt));
    if (r == 0)
        measure_log_fetched(m, old->plan);
    snapshot_layout_unref(old);
    return r == -EINVAL ? 0 : r;
}

void measure_note_none_free(struct measure *m, bool none_free) {
    if (none_free == m->none_free)
        return;
    m->none_free = none_free;
    source_log_counters(m->type->source, none_free,
                        none_free ? "others hold all counters: what is missing is uncovered time, and measuring goes "
                                    "on when they let go"
                                  : "counters can be had again");
    measure_refresh_view(m);
}

int measure_follow_counters(struct measure *m, int counters, uint64_t now_ns) {
    struct follow before = m->follow;
    measure_note_none_free(m, counters == 0);
    if (!follow_answer(&m->follow, counters, now_ns) && !watchdog_is_news(m))
        return collector_start(m->collector, m->stage.layout);
    trials_forget(m->trials);
    struct snapshot_layout *old = snapshot_layout_ref(m->stage.layout);
    struct errors errors = {0};
    int r = measure_change_plan(m, &errors);
    if (r == 0)
        stage_log_change(m->type->source, old->plan, m->stage.layout->plan);
    else
        m->follow.counters = before.counters;
    log_errors(&errors);
    snapshot_layout_unref(old);
    return r == -EINVAL ? collector_start(m->collector, m->stage.layout) : r;
}

int measure_follow_trial(struct measure *m) {
    struct snapshot_layout *old = snapshot_layout_ref(m->stage.layout);
    struct errors errors = {0};
    int r = measure_change_plan(m, &errors);
    if (r == 0)
        stage_log_change(m->type->source, old->plan, m->stage.layout->plan);
    log_errors(&errors);
    snapshot_layout_unref(old);
    return r == -EINVAL ? 0 : r;
}

// Metrics may have another definition, without the event that never counts.
int measure_follow_dead(struct measure *m) {
    struct snapshot_layout *old = snapshot_layout_ref(m->stage.layout);
    struct errors errors = {0};
    m->due.dead = false;
    int r = measure_change_plan(m, &errors);
    if (r == 0) {
        stage_log_definitions(m->type->source, old->plan, m->stage.layout->plan, dead_events(m->dead));
        stage_log_change(m->type->source, old->plan, m->stage.layout->plan);
    }
    log_errors(&errors);
    snapshot_layout_unref(old);
    return r == -EINVAL ? 0 : r;
}
