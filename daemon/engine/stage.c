// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/stage.h"

#include <errno.h>

#include "core/plan/schedule.h"
#include "daemon/base/log.h"
#include "daemon/engine/plan_view.h"

// A replay shows the recorded facts beside its values.
static struct view *copy_view(struct view *view, const struct stage_request *request) {
    const struct recording_facts *facts = request->facts;
    struct view_pmu_error errors[RECORDING_TROUBLES_MAX];
    for (size_t i = 0; facts && i < facts->n_troubles; i++)
        errors[i] = (struct view_pmu_error){.pmu = facts->troubles[i].pmu,
                                            .reason = facts->troubles[i].reason,
                                            .text = facts->troubles[i].text,
                                            .of_host = facts->troubles[i].of_host,
                                            .uncore = facts->troubles[i].uncore};
    if (facts) {
        view->counters.total = facts->counters_total;
        view->counters.usable = facts->counters_usable;
        view->adapt = request->report;
        view->pmu_errors = errors;
        view->n_pmu_errors = facts->n_troubles;
    }
    return view_new(view);
}

static const char *watchdog_word(const struct source *source) {
    if (source->replayed || !source->takes_counters)
        return NULL;
    return source->nmi_watchdog ? "holds_a_counter" : source->watchdog_on ? "holds_none" : "off";
}

static uint64_t interval_of(const struct stage_request *request, const struct snapshot_layout *layout) {
    if (request->replayed || request->type->source->replayed)
        return 0; // a replay is never too old
    struct schedule schedule =
        schedule_of(layout->plan, layout->topology->n_cores, setup_interval_ns(request->setup), request->seed);
    return schedule_interval_ns(&schedule);
}

// What is running adds to what the plan and its set-up tell.
static struct view *make_view(const struct stage_request *request, struct snapshot_layout *layout) {
    const struct source *source = request->type->source;
    unsigned fixed = source_fixed_counters(source);
    bool none = request->follow.counters == 0;
    struct view view = plan_view_facts(request->setup, request->type, layout);
    view.seed = request->seed;
    view.interval_ns = interval_of(request, layout);
    view.files.recording = request->recording;
    view.files.recorder = source->past.version;
    view.files.elsewhere = source->past.first_type;
    view.counters.total = none ? 0 : request->follow.most_counters + fixed;
    view.counters.usable = none || request->none_free ? 0 : request->follow.counters + fixed;
    view.adapt = request->adapt ? adapt_report(request->adapt) : NULL;
    view.nmi_watchdog = watchdog_word(source);
    return copy_view(&view, request);
}

// Takes ownership of both; the topology is NULL if out of memory.
static int join_layout(struct plan *plan, struct topology *topology, struct snapshot_layout **out) {
    struct snapshot_layout *layout = topology ? snapshot_layout_new(plan, topology) : NULL;
    if (!layout) {
        topology_free(topology);
        plan_free(plan);
        return -ENOMEM;
    }
    *out = layout;
    return 0;
}

int stage_plan(const struct stage_request *request, struct errors *errors, struct plan **out) {
    // counters that others already hold are part of their reserve
    unsigned held = request->follow.most_counters - request->follow.counters,
             reserve = request->setup->profile->settings.reserve_counters;
    struct setup_plan_request asked = {.raised = request->adapt ? adapt_raised(request->adapt) : NULL,
                                       .dead = request->dead,
                                       .findings = request->findings,
                                       .general_counters = request->follow.counters,
                                       .reserved_counters = reserve > held ? reserve - held : 0,
                                       .fetched_files = request->fetched_files,
                                       .slot_factor = request->slot_factor};
    if (request->evidence)
        asked.fetched = evidence_wanted(request->evidence, &asked.n_fetched);
    return setup_plan(request->setup, request->type, &asked, errors, out);
}

static int make_layout(const struct stage_request *request, struct errors *errors, struct snapshot_layout **out) {
    struct plan *plan;
    if (request->replayed)
        return join_layout(request->replayed->plan, request->replayed->topology, out);
    int r = stage_plan(request, errors, &plan);
    if (r < 0)
        return r;
    return join_layout(plan, topology_copy(request->type->topology), out);
}

static struct watch *make_watch(const struct source *source, const struct derive *derive,
                                struct snapshot_layout *layout, const struct watch *before) {
    struct snapshot *now = snapshot_new(layout);
    if (!now)
        return NULL;
    derive_initial(derive, now);
    struct watch *watch = watch_new(layout, source->prefix, now, before);
    snapshot_unref(now);
    return watch;
}

void stage_deinit(struct stage *stage) {
    watch_free(stage->watch);
    diagnosis_free(stage->diagnosis);
    derive_free(stage->derive);
    view_unref(stage->view);
    snapshot_layout_unref(stage->layout);
}

int stage_init(struct stage *stage, const struct stage_request *request, const struct stage *before,
               struct errors *errors) {
    *stage = (struct stage){0};
    int r = make_layout(request, errors, &stage->layout);
    if (r < 0)
        return r;
    stage->view = make_view(request, stage->layout);
    stage->derive = derive_new(stage->layout);
    if (stage->derive && before->derive && derive_continue(stage->derive, before->derive) < 0)
        stage->derive = derive_free(stage->derive);
    if (stage->derive && request->setup->many_rounds)
        derive_tell_many(stage->derive);
    if (stage->derive)
        stage->watch = make_watch(request->type->source, stage->derive, stage->layout, before->watch);
    stage->diagnosis = diagnosis_new(stage->layout);
    if (stage->diagnosis && before->diagnosis)
        diagnosis_continue(stage->diagnosis, before->diagnosis);
    if (stage->view && stage->derive && stage->watch && stage->diagnosis)
        return 0;
    stage_deinit(stage);
    return -ENOMEM;
}

void stage_refresh_view(struct stage *stage, const struct stage_request *request) {
    struct view *view = make_view(request, stage->layout);
    if (!view)
        return; // the log has its news
    view_unref(stage->view);
    stage->view = view;
}

void stage_fill(struct stage *stage, struct snapshot *snapshot) {
    derive_initial(stage->derive, snapshot);
    diagnosis_look(stage->diagnosis, snapshot);
}

void stage_mark_yielded(struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t scope = 0; scope < layout->n_scopes; scope++)
        for (size_t m = 0; m < snapshot_n_metrics(layout, scope); m++)
            snapshot->absent[snapshot_state(layout, scope, m)] =
                plan_metric_planned(&layout->plan->metrics[m]) ? ABSENT_YIELDED : ABSENT_NOT_PLANNABLE;
}

// What comes after a decision that gives its metric group no more of the round.
static const char *no_gain(const struct plan *plan, const struct adapt_decision *decision) {
    if (!decision->raised || adapt_gains(plan, decision->group))
        return "";
    return adapt_share(plan, decision->group).baseline >= 1
               ? ": it counts in every slot already"
               : ": it gets no more slots, because all that can be raised is raised";
}

void stage_log_decisions(const struct source *source, const struct plan *plan, const struct adapt_report *report) {
    for (size_t i = report->n_decisions - report->n_new; i < report->n_decisions; i++) {
        char text[ADAPT_TEXT_MAX];
        adapt_decision_text(source->catalog, &report->decisions[i], text, sizeof text);
        log_info("%s%s%s", source->prefix, text, no_gain(plan, &report->decisions[i]));
    }
}

// The same metric before; NULL: it was not there.
static const struct plan_metric *before_of(const struct plan *before, const struct plan *after, size_t metric) {
    int place = before->place[catalog_metric_named(after->catalog, after->metrics[metric].metric)];
    return place >= 0 ? &before->metrics[place] : NULL;
}

static const char *dead_event(const struct catalog *catalog, unsigned metric, const bool *dead) {
    const struct formula *formula = catalog->metrics[metric].formula;
    for (size_t v = 0; v < formula->n_variables; v++)
        if (dead[formula->variables[v]])
            return catalog->events[formula->variables[v]].name;
    return "one of its events";
}

void stage_log_definitions(const struct source *source, const struct plan *before, const struct plan *after,
                           const bool *dead) {
    for (size_t i = 0; i < after->n_metrics; i++) {
        const struct plan_metric *old = before_of(before, after, i);
        unsigned is = after->metrics[i].metric, was = old ? old->metric : is;
        const struct catalog_metric *metric = &after->catalog->metrics[is];
        if (was != is)
            log_info("%s%s is measured by its definition %s from now on: %s runs and never counts here", source->prefix,
                     metric->export_name, metric->definition, dead_event(after->catalog, was, dead));
    }
}

void stage_log_change(const struct source *source, const struct plan *before, const struct plan *after) {
    for (size_t i = 0; i < after->n_metrics; i++) {
        const struct catalog_metric *metric = &after->catalog->metrics[after->metrics[i].metric];
        const struct plan_metric *old = before_of(before, after, i);
        if (after->metrics[i].auxiliary || !old)
            continue; // metrics that need it are reported
        bool was = plan_metric_planned(old), is = plan_metric_planned(&after->metrics[i]);
        if (was && !is)
            log_warning("%s%s is no longer measured: %s", source->prefix, metric->export_name,
                        after->metrics[i].reason);
        else if (!was && is)
            log_info("%s%s is measured again", source->prefix, metric->export_name);
    }
    if (after->general_counters != before->general_counters)
        log_info("%s%u general counter%s can be had instead of %u: %zu event group%s instead of %zu", source->prefix,
                 after->general_counters, after->general_counters == 1 ? "" : "s", before->general_counters,
                 after->n_groups, after->n_groups == 1 ? "" : "s", before->n_groups);
}
