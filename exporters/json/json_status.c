// SPDX-License-Identifier: Apache-2.0
//
// The plan and the daemon itself as JSON, indented: people read these.

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/adapt/adapt.h"
#include "exporters/health/health.h"
#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"

static const char SCHEDULE[] =
    "Every event group counts in its slots of a round, at another place in each round and on each physical core (SMT "
    "siblings together), drawn from the seed; in the idle time of a round no counter is held.";

static void add_event_name(struct json *json, const struct catalog_event *event) {
    char code[24];
    (void)snprintf(code, sizeof(code), "0x%" PRIx64, event->code.config);
    json_string(json, "name", event->name);
    json_string(json, "code", code);
}

// True for metrics of the unit. Every unit that rotates measures the metrics that every such event group carries.
static bool is_measured_by(const struct plan *plan, size_t metric, int unit) {
    int of = plan->metrics[metric].unit;
    return of == unit ||
           (unit >= 0 && of >= 0 && of == plan_carried_unit(plan) && !plan_unit_stands(plan, (unsigned)unit));
}

static void add_metric_names(struct json *json, const char *key, const struct view *view, int unit, bool exported) {
    json_begin_array(json, key);
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (is_measured_by(view->layout->plan, i, unit) && view_exported(view, i) == exported)
            json_string(json, NULL, view_metric(view, i)->export_name);
    json_end_array(json);
}

// Adds the metrics that a unit measures or, with PLAN_COMBINED, those derived only from other metrics' values.
static void add_metrics_of(struct json *json, const struct view *view, int unit) {
    add_metric_names(json, "metrics", view, unit, true);
    add_metric_names(json, "auxiliary_metrics", view, unit, false);
}

static void add_event_group(struct json *json, const struct view *view, size_t g) {
    const struct plan *plan = view->layout->plan;
    const struct plan_group *group = &plan->groups[g];
    const struct plan_unit *unit = &plan->units[group->unit];
    bool stands = plan_group_stands(plan, (unsigned)g);
    json_begin_object(json, NULL);
    json_string(json, "name", group->name);
    json_begin_array(json, "events");
    for (size_t e = 0; e < group->n_events; e++) {
        json_begin_object(json, NULL);
        add_event_name(json, &plan->catalog->events[group->events[e]]);
        json_end_object(json);
    }
    json_end_array(json);
    add_metrics_of(json, view, (int)group->unit);
    json_whole(json, "slots", unit->slots);
    json_bool(json, "always_on", stands);
    json_number(json, "share_of_time", stands ? 1 : (double)(unit->slots * plan->slot_ns) / (double)plan->round_ns);
    json_number(json, "baseline_share_of_time", unit->baseline_share / unit->n_groups);
    json_bool(json, "composite", unit->n_groups > 1);
    json_bool(json, "fetched", plan_unit_fetched(plan, group->unit));
    json_end_object(json);
}

static void add_unit(struct json *json, const struct plan *plan, size_t u) {
    const struct plan_unit *unit = &plan->units[u];
    json_begin_object(json, NULL);
    json_begin_array(json, "event_groups");
    bool carried = plan_carried_unit(plan) == (int)u; // by all event groups: it counts in every slot
    size_t first = carried ? 0 : unit->first_group, n = carried ? plan_n_rotating(plan) : unit->n_groups;
    for (size_t g = first; g < first + n; g++)
        json_string(json, NULL, plan->groups[g].name);
    json_end_array(json);
    json_whole(json, "slots", carried ? plan_slots(plan) : unit->slots);
    json_string(json, "reference", unit->reference >= 0 ? plan->catalog->events[unit->reference].name : NULL);
    json_end_object(json);
}

// Adds the requested events, measured or not, and whether the PMU advertises them.
static void add_events(struct json *json, const struct snapshot_layout *layout) {
    static const char *const supports[] = {[PLAN_SUPPORT_UNKNOWN] = "unknown",
                                           [PLAN_SUPPORTED] = "supported",
                                           [PLAN_UNSUPPORTED] = "unsupported",
                                           [PLAN_ELSEWHERE] = "elsewhere",
                                           [PLAN_NOT_RECORDED] = "not_recorded"};
    json_begin_array(json, "events");
    for (size_t e = 0; e < layout->n_events; e++) {
        json_begin_object(json, NULL);
        add_event_name(json, &layout->catalog->events[layout->events[e]]);
        json_string(json, "support", supports[layout->plan->support[layout->events[e]]]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_counters(struct json *json, const struct view *view) {
    bool counters = view->counters.total > 0;
    json_number(json, "counters_total", counters ? (double)view->counters.total : NAN);
    json_number(json, "counters_usable", counters ? (double)view->counters.usable : NAN);
    json_bool(json, "guests_excluded", view->guests_excluded);
}

static const char *mode_of(const struct view *view) { return view->adapt ? "adaptive" : "fixed"; }

static bool is_raised(const struct view *view, const struct adapt_group *group) {
    return group->raised && adapt_gains(view->layout->plan, group->group);
}

static void add_adaptive_group(struct json *json, const struct view *view, const struct adapt_group *group) {
    const struct catalog *catalog = view->layout->catalog;
    bool raised = is_raised(view, group);
    struct adapt_share share = adapt_share(view->layout->plan, group->group);
    json_begin_object(json, NULL);
    json_string(json, "group", catalog->groups[group->group].name);
    json_number(json, "share_of_time", share.now);
    json_number(json, "baseline_share_of_time", share.baseline);
    json_bool(json, "raised", raised);
    json_string(json, "raised_by", raised ? catalog->metrics[group->metric].export_name : NULL);
    json_number(json, "value", raised ? group->value : NAN);
    json_number(json, "since_timestamp_seconds", group->since_seconds);
    json_end_object(json);
}

// Adds what the adaptive schedule has raised, and its last decisions, newest first.
static void add_adaptive(struct json *json, const struct view *view) {
    const struct catalog *catalog = view->layout->catalog;
    if (!view->adapt) {
        json_null(json, "adaptive");
        return;
    }
    json_begin_object(json, "adaptive");
    json_begin_array(json, "groups");
    for (size_t i = 0; i < view->adapt->n_groups; i++)
        add_adaptive_group(json, view, &view->adapt->groups[i]);
    json_end_array(json);
    json_begin_array(json, "decisions");
    for (size_t i = view->adapt->n_decisions; i-- > 0;) {
        const struct adapt_decision *decision = &view->adapt->decisions[i];
        char text[ADAPT_TEXT_MAX];
        adapt_decision_text(catalog, decision, text, sizeof(text));
        json_begin_object(json, NULL);
        json_string(json, "group", catalog->groups[decision->group].name);
        json_bool(json, "raised", decision->raised);
        json_string(json, "metric", catalog->metrics[decision->metric].export_name);
        json_number(json, "value", decision->value);
        json_number(json, "timestamp_seconds", decision->at_seconds);
        json_string(json, "reason", text);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void add_schedule(struct json *json, const struct view *view) {
    json_begin_object(json, "schedule");
    json_string(json, "mode", mode_of(view));
    json_begin_array(json, "raised");
    for (size_t i = 0; view->adapt && i < view->adapt->n_groups; i++)
        if (is_raised(view, &view->adapt->groups[i]))
            json_string(json, NULL, view->layout->catalog->groups[view->adapt->groups[i].group].name);
    json_end_array(json);
    json_end_object(json);
}

static void add_not_plannable(struct json *json, const struct view *view) {
    const struct plan *plan = view->layout->plan;
    json_begin_array(json, "not_plannable");
    for (size_t i = 0; i < plan->n_metrics; i++) {
        if (view_plannable(view, i))
            continue;
        json_begin_object(json, NULL);
        json_string(json, "metric", view_metric(view, i)->export_name);
        json_string(json, "reason", plan->metrics[i].reason);
        json_bool(json, "auxiliary", plan->metrics[i].auxiliary);
        json_end_object(json);
    }
    json_end_array(json);
}

// Adds the event groups, and what is derived from their values.
static void add_measured(struct json *json, const struct view *view) {
    json_begin_array(json, "event_groups");
    for (size_t g = 0; g < view->layout->plan->n_groups; g++)
        add_event_group(json, view, g);
    json_end_array(json);
    json_begin_object(json, "combined");
    add_metrics_of(json, view, PLAN_COMBINED);
    json_end_object(json);
    add_events(json, view->layout);
    add_not_plannable(json, view);
}

static void add_kind(struct json *json, const struct view *view) {
    json_begin_object(json, NULL);
    json_boxes_kind(json, view);
    json_whole(json, "boxes", view->layout->topology->n_cpus);
    add_measured(json, view);
    json_end_object(json);
}

int json_render_plan(const struct shown *shown, size_t type, struct text *out) {
    return json_render_plan_with(shown, type, NULL, out);
}

int json_render_plan_with(const struct shown *shown, size_t type, json_more *more, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct plan *plan = view->layout->plan;
    struct json json = json_begin_document(view, out, JSON_INDENTED);
    char seed[24];
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, view->seed);
    json_bool(&json, "simulated", view->simulated);
    json_bool(&json, "replay", view->replayed);
    json_whole(&json, "general_counters", plan->general_counters);
    json_whole(&json, "reserved_counters", plan->reserved_counters);
    add_counters(&json, view);
    json_number(&json, "slot_seconds", (double)plan->slot_ns / 1e9);
    json_number(&json, "idle_seconds", (double)plan->idle_ns / 1e9);
    json_number(&json, "round_seconds", (double)plan->round_ns / 1e9);
    json_string(&json, "schedule", SCHEDULE);
    json_string(&json, "seed", seed); // more bits than many readers keep of a number
    json_string(&json, "mode", mode_of(view));
    add_adaptive(&json, view);
    add_measured(&json, view);
    json_begin_array(&json, "units");
    for (size_t u = 0; u < plan->n_units; u++)
        add_unit(&json, plan, u);
    json_end_array(&json);
    json_begin_array(&json, "uncore");
    for (size_t i = shown->n; type == 0 && i < shown_all(shown); i++)
        add_kind(&json, shown->types[i].view);
    json_end_array(&json);
    if (more)
        more(&json, view);
    json_end_object(&json);
    return json_end(&json);
}

static void add_hardware(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct topology *topology = view->layout->topology;
    json_begin_object(json, "cpu");
    json_string(json, "vendor", view->cpu_vendor);
    json_string(json, "model", view->cpu_model);
    json_string(json, "microarchitecture", view->cpu_microarchitecture);
    json_string(json, "spec", view->layout->catalog->product.spec);
    json_number(json, "maximum_frequency_hz",
                topology->maximum_frequency_hz > 0 ? topology->maximum_frequency_hz : NAN);
    json_end_object(json);
    json_begin_array(json, "sockets");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        const struct topology_socket *socket = &topology->sockets[s];
        json_begin_object(json, NULL);
        json_whole(json, "socket", socket->id);
        json_whole(json, "cores", socket->cores);
        json_whole(json, "cpus_measured", socket->measured);
        json_whole(json, "cpus_excluded", socket->excluded);
        json_whole(json, "cpus_isolated", socket->isolated);
        json_number(json, "cpus_offline", snapshot->values[snapshot_offline(view->layout, s)]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_pmu(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    json_begin_object(json, "pmu");
    json_string(json, "name", view->pmu);
    json_number(json, "up", status_engine_series(&snapshot->engine, STATUS_PMU_UP));
    add_counters(json, view);
    if (view->nmi_watchdog)
        json_string(json, "nmi_watchdog", view->nmi_watchdog);
    else
        json_null(json, "nmi_watchdog");
    json_number(json, "kernel_memory_bytes", snapshot->engine.pmu.kernel_bytes);
    json_end_object(json);
    json_begin_array(json, "pmu_errors");
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        if (view->pmu_errors[i].uncore)
            continue;
        json_begin_object(json, NULL);
        json_string(json, "pmu", view->pmu_errors[i].pmu);
        json_string(json, "reason", view->pmu_errors[i].reason);
        json_string(json, "text", view->pmu_errors[i].text);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_not_live(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = view->layout;
    json_begin_array(json, "events_not_live");
    for (size_t e = 0; e < layout->n_events; e++) {
        enum event_trouble trouble = view_trouble(view, snapshot, e);
        if (trouble == EVENT_TROUBLE_N)
            continue;
        json_begin_object(json, NULL);
        json_string(json, "event", layout->catalog->events[layout->events[e]].name);
        json_string(json, "state", event_trouble_name(trouble));
        json_string(json, "text", view_trouble_text(view, e, trouble));
        json_end_object(json);
    }
    json_end_array(json);
}

struct figure {
    const char *key;
    enum status_number number;
};

static void add_figures(struct json *json, const struct snapshot *snapshot, const struct figure *figures, size_t n) {
    for (size_t i = 0; i < n; i++)
        json_number(json, figures[i].key, status_series(&snapshot->status, figures[i].number));
}

static void add_process(struct json *json, const struct snapshot *snapshot) {
    static const struct figure figures[] = {
        {"start_timestamp_seconds", STATUS_PROCESS_START_TIMESTAMP},
        {"cpu_seconds_total", STATUS_PROCESS_CPU_SECONDS},
        {"collection_seconds_total", STATUS_COLLECTION_SECONDS},
        {"resident_bytes", STATUS_PROCESS_RESIDENT_BYTES},
        {"virtual_bytes", STATUS_PROCESS_VIRTUAL_BYTES},
        {"open_fds", STATUS_PROCESS_OPEN_FDS},
        {"max_fds", STATUS_PROCESS_MAX_FDS},
    };
    json_begin_object(json, "process");
    add_figures(json, snapshot, figures, sizeof(figures) / sizeof(figures[0]));
    json_end_object(json);
}

// What measuring costs: the daemon's own account.
static void add_cost(struct json *json, const struct snapshot *snapshot) {
    static const struct figure figures[] = {
        {"calls_total", STATUS_CALLS},
        {"interrupts_total", STATUS_INTERRUPTS},
        {"interrupt_seconds_total", STATUS_INTERRUPT_SECONDS},
        {"rotations_total", STATUS_ROTATIONS},
        {"rotation_seconds_total", STATUS_ROTATION_SECONDS},
        {"budget_used_ratio", STATUS_BUDGET_USED},
    };
    json_begin_object(json, "cost");
    add_figures(json, snapshot, figures, sizeof(figures) / sizeof(figures[0]));
    json_end_object(json);
}

// How the windows of each event group ended, and how long it was on the counters of those it was enabled for.
static void add_windows(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = view->layout;
    json_begin_array(json, "event_groups");
    for (size_t g = 0; g < layout->plan->n_groups; g++) {
        json_begin_object(json, NULL);
        json_string(json, "name", layout->plan->groups[g].name);
        json_begin_object(json, "windows");
        for (int result = 0; result < WINDOW_RESULT_N; result++)
            json_number(json, window_result_name((enum window_result)result),
                        snapshot->values[snapshot_windows(layout, g, (enum window_result)result)]);
        json_end_object(json);
        json_number(json, "enabled_seconds", snapshot->values[snapshot_enabled(layout, g)]);
        json_number(json, "running_seconds", snapshot->values[snapshot_running(layout, g)]);
        json_end_object(json);
    }
    json_end_array(json);
}

static void add_recording(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct status_engine *engine = &snapshot->engine;
    int error = engine->recording.error;
    if (!view->files.recording)
        return;
    json_begin_object(json, "recording");
    json_string(json, "file", view->files.recording);
    json_number(json, "up", status_engine_series(engine, STATUS_RECORDING_UP));
    json_string(json, "reason", error < 0 ? view_recording_text(error) : NULL);
    json_number(json, "bytes_total", status_engine_series(engine, STATUS_RECORDING_BYTES));
    json_number(json, "rounds_lost_total", status_engine_series(engine, STATUS_RECORDING_ROUNDS_LOST));
    json_end_object(json);
}

static void add_textfile(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    int error = snapshot->status.textfile.error;
    if (!view->files.textfile)
        return;
    json_begin_object(json, "textfile");
    json_string(json, "folder", view->files.textfile);
    json_number(json, "up", status_series(&snapshot->status, STATUS_TEXTFILE_UP));
    json_string(json, "reason", error < 0 ? view_textfile_text(error) : NULL);
    json_number(json, "failures_total", status_series(&snapshot->status, STATUS_TEXTFILE_FAILURES));
    json_end_object(json);
}

// The answer of /-/ready, the same for all core types.
static void add_health(struct json *json, const struct shown *shown) {
    char text[HEALTH_TEXT_MAX];
    struct health health = health_judge(shown, 0); // snapshots that are too old say so themselves
    health_text(shown, 0, text, sizeof text);
    json_begin_object(json, "health");
    json_bool(json, "ready", health.ready);
    json_string(json, "reason", health_reason_name(health.reason));
    json_string(json, "text", text[0] ? text : NULL);
    json_string(json, "remedy", health.reason == HEALTH_FINE ? NULL : health_remedy(health.reason));
    json_end_object(json);
}

int json_render_status(const struct shown *shown, size_t type, struct text *out) {
    const struct view *view = shown->types[type].view;
    const struct snapshot *snapshot = shown->types[type].snapshot;
    static const struct figure config[] = {
        {"last_reload_successful", STATUS_CONFIG_SUCCESSFUL},
        {"last_reload_success_timestamp_seconds", STATUS_CONFIG_SUCCESS_TIMESTAMP},
    };
    struct json json = json_begin_document(view, out, JSON_INDENTED);
    char hash[24];
    (void)snprintf(hash, sizeof(hash), "%016" PRIx64, view->config_hash);
    json_string(&json, "version", view->version);
    json_string(&json, "revision", view->revision);
    json_bool(&json, "simulated", view->simulated);
    json_bool(&json, "replay", view->replayed);
    json_string(&json, "recorded_version", view->files.recorder);
    json_string(&json, "hostname", view->hostname ? view->hostname : "unknown");
    add_hardware(&json, view, snapshot);
    json_platform(&json, view->platform);
    add_pmu(&json, view, snapshot);
    add_not_live(&json, view, snapshot);
    json_begin_object(&json, "config");
    json_string(&json, "profile", view->profile);
    json_string(&json, "hash", hash);
    add_figures(&json, snapshot, config, sizeof(config) / sizeof(config[0]));
    json_end_object(&json);
    add_schedule(&json, view);
    json_begin_object(&json, "snapshot");
    json_whole(&json, "sequence", snapshot->sequence);
    json_number(&json, "timestamp_seconds", snapshot->taken_seconds);
    json_end_object(&json);
    add_recording(&json, view, snapshot);
    add_textfile(&json, view, snapshot);
    add_process(&json, snapshot);
    add_health(&json, shown);
    add_cost(&json, snapshot);
    add_windows(&json, view, snapshot);
    json_attention(&json, view, snapshot);
    json_end_object(&json);
    return json_end(&json);
}
