// SPDX-License-Identifier: Apache-2.0
//
// The plan and the daemon itself as JSON, indented: people read these.

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/adapt/adapt.h"
#include "exporters/json/json.h"
#include "exporters/json/json_parts.h"

static const char SCHEDULE[] =
    "Every event group counts in its slots of a round, at another place in each round and on each physical core (SMT "
    "siblings together), drawn from the seed; in the idle time of a round no counter is held.";

void json_attention(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    cJSON *attention = json_array(json, NULL, "attention");
    for (size_t i = 0; i < view->layout->n_metrics; i++) {
        double rate = snapshot_high_rate(snapshot, i);
        if (rate == 0 || !view_exported(view, i))
            continue;
        const struct catalog_metric *metric = view_metric(view, i);
        cJSON *item = json_object(json, attention, NULL);
        json_string(json, item, "metric", metric->export_name);
        json_number(json, item, "rate", rate);
        json_number(json, item, "threshold", metric->rate_threshold);
        json_string(json, item, "advice", metric->rate_advice);
    }
}

static void add_event_name(struct json *json, cJSON *item, const struct catalog_event *event) {
    char code[24];
    (void)snprintf(code, sizeof(code), "0x%" PRIx64, event->code.config);
    json_string(json, item, "name", event->name);
    json_string(json, item, "code", code);
}

// The metrics that are measured by a unit, or, with PLAN_COMBINED, made of other metrics' values only.
static void add_metrics_of(struct json *json, cJSON *parent, const struct view *view, int unit) {
    cJSON *metrics = json_array(json, parent, "metrics"), *auxiliary = json_array(json, parent, "auxiliary_metrics");
    for (size_t i = 0; i < view->layout->n_metrics; i++)
        if (view->layout->plan->metrics[i].unit == unit)
            json_string(json, view_exported(view, i) ? metrics : auxiliary, NULL, view_metric(view, i)->export_name);
}

static void add_event_group(struct json *json, cJSON *groups, const struct view *view, size_t g) {
    const struct plan *plan = view->layout->plan;
    const struct plan_group *group = &plan->groups[g];
    const struct plan_unit *unit = &plan->units[group->unit];
    cJSON *item = json_object(json, groups, NULL);
    json_string(json, item, "name", group->name);
    cJSON *events = json_array(json, item, "events");
    for (size_t e = 0; e < group->n_events; e++)
        add_event_name(json, json_object(json, events, NULL), &plan->catalog->events[group->events[e]]);
    add_metrics_of(json, item, view, (int)group->unit);
    json_whole(json, item, "slots", unit->slots);
    json_number(json, item, "share_of_time", (double)(unit->slots * plan->slot_ns) / (double)plan->round_ns);
    json_number(json, item, "baseline_share_of_time", unit->baseline_share / unit->n_groups);
    json_bool(json, item, "composite", unit->n_groups > 1);
}

static void add_unit(struct json *json, cJSON *units, const struct plan *plan, size_t u) {
    const struct plan_unit *unit = &plan->units[u];
    cJSON *item = json_object(json, units, NULL);
    cJSON *groups = json_array(json, item, "event_groups");
    for (size_t g = 0; g < unit->n_groups; g++)
        json_string(json, groups, NULL, plan->groups[unit->first_group + g].name);
    json_whole(json, item, "slots", unit->slots);
    if (unit->reference >= 0)
        json_string(json, item, "reference", plan->catalog->events[unit->reference].name);
    else
        json_null(json, item, "reference");
}

// What is asked for, measured or not, and whether the PMU says that it has it.
static void add_events(struct json *json, const struct snapshot_layout *layout) {
    static const char *const supports[] = {[PLAN_SUPPORT_UNKNOWN] = "unknown",
                                           [PLAN_SUPPORTED] = "supported",
                                           [PLAN_UNSUPPORTED] = "unsupported",
                                           [PLAN_ELSEWHERE] = "elsewhere",
                                           [PLAN_NOT_RECORDED] = "not_recorded"};
    cJSON *events = json_array(json, NULL, "events");
    for (size_t e = 0; e < layout->n_events; e++) {
        cJSON *item = json_object(json, events, NULL);
        add_event_name(json, item, &layout->catalog->events[layout->events[e]]);
        json_string(json, item, "support", supports[layout->plan->support[layout->events[e]]]);
    }
}

static void add_counters(struct json *json, cJSON *parent, const struct view *view) {
    bool counters = view->counters_total > 0;
    json_number(json, parent, "counters_total", counters ? (double)view->counters_total : NAN);
    json_number(json, parent, "counters_usable", counters ? (double)view->counters_usable : NAN);
    json_bool(json, parent, "guests_excluded", view->guests_excluded);
}

static const char *mode_of(const struct view *view) { return view->adapt ? "adaptive" : "fixed"; }

static void add_adaptive_group(struct json *json, cJSON *groups, const struct view *view,
                               const struct adapt_group *group) {
    const struct catalog *catalog = view->layout->catalog;
    struct adapt_share share = adapt_share(view->layout->plan, group->group);
    cJSON *item = json_object(json, groups, NULL);
    json_string(json, item, "group", catalog->groups[group->group].name);
    json_number(json, item, "share_of_time", share.now);
    json_number(json, item, "baseline_share_of_time", share.baseline);
    json_bool(json, item, "raised", group->raised);
    if (group->raised)
        json_string(json, item, "raised_by", catalog->metrics[group->metric].export_name);
    else
        json_null(json, item, "raised_by");
    json_number(json, item, "value", group->raised ? group->value : NAN);
    json_number(json, item, "since_timestamp_seconds", group->since_seconds);
}

// What the adaptive schedule has raised, and the last decisions, the newest first.
static void add_adaptive(struct json *json, const struct view *view) {
    const struct catalog *catalog = view->layout->catalog;
    if (!view->adapt) {
        json_null(json, NULL, "adaptive");
        return;
    }
    cJSON *adaptive = json_object(json, NULL, "adaptive");
    cJSON *groups = json_array(json, adaptive, "groups");
    for (size_t i = 0; i < view->adapt->n_groups; i++)
        add_adaptive_group(json, groups, view, &view->adapt->groups[i]);
    cJSON *decisions = json_array(json, adaptive, "decisions");
    for (size_t i = view->adapt->n_decisions; i-- > 0;) {
        const struct adapt_decision *decision = &view->adapt->decisions[i];
        char text[ADAPT_TEXT_MAX];
        adapt_decision_text(catalog, decision, text, sizeof(text));
        cJSON *item = json_object(json, decisions, NULL);
        json_string(json, item, "group", catalog->groups[decision->group].name);
        json_bool(json, item, "raised", decision->raised);
        json_string(json, item, "metric", catalog->metrics[decision->metric].export_name);
        json_number(json, item, "value", decision->value);
        json_number(json, item, "timestamp_seconds", decision->at_seconds);
        json_string(json, item, "reason", text);
    }
}

static void add_schedule(struct json *json, const struct view *view) {
    cJSON *schedule = json_object(json, NULL, "schedule");
    json_string(json, schedule, "mode", mode_of(view));
    cJSON *raised = json_array(json, schedule, "raised");
    for (size_t i = 0; view->adapt && i < view->adapt->n_groups; i++)
        if (view->adapt->groups[i].raised)
            json_string(json, raised, NULL, view->layout->catalog->groups[view->adapt->groups[i].group].name);
}

int json_render_plan(const struct view *view, struct text *out) {
    const struct plan *plan = view->layout->plan;
    struct json json = json_document(view);
    char seed[24];
    (void)snprintf(seed, sizeof(seed), "%" PRIu64, view->seed);
    json_bool(&json, NULL, "simulated", view->simulated);
    json_bool(&json, NULL, "replay", view->replayed);
    json_whole(&json, NULL, "general_counters", plan->general_counters);
    json_whole(&json, NULL, "reserved_counters", plan->reserved_counters);
    add_counters(&json, NULL, view);
    json_number(&json, NULL, "slot_seconds", (double)plan->slot_ns / 1e9);
    json_number(&json, NULL, "idle_seconds", (double)plan->idle_ns / 1e9);
    json_number(&json, NULL, "round_seconds", (double)plan->round_ns / 1e9);
    json_string(&json, NULL, "schedule", SCHEDULE);
    json_string(&json, NULL, "seed", seed); // more bits than many readers keep of a number
    json_string(&json, NULL, "mode", mode_of(view));
    add_adaptive(&json, view);
    cJSON *groups = json_array(&json, NULL, "event_groups");
    for (size_t g = 0; g < plan->n_groups; g++)
        add_event_group(&json, groups, view, g);
    cJSON *units = json_array(&json, NULL, "units");
    for (size_t u = 0; u < plan->n_units; u++)
        add_unit(&json, units, plan, u);
    add_metrics_of(&json, json_object(&json, NULL, "combined"), view, PLAN_COMBINED);
    add_events(&json, view->layout);
    cJSON *missing = json_array(&json, NULL, "not_plannable");
    for (size_t i = 0; i < plan->n_metrics; i++) {
        if (view_plannable(view, i))
            continue;
        cJSON *item = json_object(&json, missing, NULL);
        json_string(&json, item, "metric", view_metric(view, i)->export_name);
        json_string(&json, item, "reason", plan->metrics[i].reason);
        json_bool(&json, item, "auxiliary", plan->metrics[i].auxiliary);
    }
    int r = json_finish(&json, true, out);
    text_string(out, "\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}

static void add_hardware(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct topology *topology = view->layout->topology;
    cJSON *cpu = json_object(json, NULL, "cpu");
    json_string(json, cpu, "vendor", view->cpu_vendor);
    json_string(json, cpu, "model", view->cpu_model);
    json_string(json, cpu, "microarchitecture", view->cpu_microarchitecture);
    json_string(json, cpu, "spec", view->layout->catalog->product.spec);
    json_number(json, cpu, "maximum_frequency_hz",
                topology->maximum_frequency_hz > 0 ? topology->maximum_frequency_hz : NAN);
    cJSON *sockets = json_array(json, NULL, "sockets");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        const struct topology_socket *socket = &topology->sockets[s];
        cJSON *item = json_object(json, sockets, NULL);
        json_whole(json, item, "socket", socket->id);
        json_whole(json, item, "cores", socket->cores);
        json_whole(json, item, "cpus_measured", socket->measured);
        json_whole(json, item, "cpus_excluded", socket->excluded);
        json_number(json, item, "cpus_offline", snapshot->values[snapshot_offline(view->layout, s)]);
    }
    cJSON *pmu = json_object(json, NULL, "pmu");
    json_string(json, pmu, "name", view->pmu);
    json_number(json, pmu, "up", snapshot->values[snapshot_self(view->layout, SELF_PMU_UP)]);
    add_counters(json, pmu, view);
    cJSON *errors = json_array(json, NULL, "pmu_errors");
    for (size_t i = 0; i < view->n_pmu_errors; i++) {
        cJSON *item = json_object(json, errors, NULL);
        json_string(json, item, "pmu", view->pmu_errors[i].pmu);
        json_string(json, item, "reason", view->pmu_errors[i].reason);
        json_string(json, item, "text", view->pmu_errors[i].text);
    }
}

static void add_not_live(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = view->layout;
    cJSON *events = json_array(json, NULL, "events_not_live");
    for (size_t e = 0; e < layout->n_events; e++) {
        enum event_trouble trouble = view_trouble(view, snapshot, e);
        if (trouble == EVENT_TROUBLE_N)
            continue;
        cJSON *item = json_object(json, events, NULL);
        json_string(json, item, "event", layout->catalog->events[layout->events[e]].name);
        json_string(json, item, "state", event_trouble_name(trouble));
        json_string(json, item, "text", view_trouble_text(trouble));
    }
}

static void add_process(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    static const struct {
        const char *key;
        enum self_value value;
    } figures[] = {
        {"start_timestamp_seconds", SELF_PROCESS_START_TIMESTAMP},
        {"cpu_seconds_total", SELF_PROCESS_CPU_SECONDS},
        {"collection_seconds_total", SELF_COLLECTION_SECONDS},
        {"resident_bytes", SELF_PROCESS_RESIDENT_BYTES},
        {"virtual_bytes", SELF_PROCESS_VIRTUAL_BYTES},
        {"open_fds", SELF_PROCESS_OPEN_FDS},
        {"max_fds", SELF_PROCESS_MAX_FDS},
    };
    cJSON *process = json_object(json, NULL, "process");
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        json_number(json, process, figures[i].key, snapshot->values[snapshot_self(view->layout, figures[i].value)]);
}

static void add_recording(struct json *json, const struct view *view, const struct snapshot *snapshot) {
    const double *values = snapshot->values;
    double error = values[snapshot_self(view->layout, SELF_RECORDING_ERROR)];
    if (!view->recording)
        return;
    cJSON *recording = json_object(json, NULL, "recording");
    json_string(json, recording, "file", view->recording);
    json_number(json, recording, "up", values[snapshot_self(view->layout, SELF_RECORDING_UP)]);
    if (error > 0)
        json_string(json, recording, "reason", view_recording_text(-(int)error));
    else
        json_null(json, recording, "reason");
    json_number(json, recording, "bytes_total", values[snapshot_self(view->layout, SELF_RECORDING_BYTES)]);
    json_number(json, recording, "rounds_lost_total", values[snapshot_self(view->layout, SELF_RECORDING_ROUNDS_LOST)]);
}

int json_render_status(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    struct json json = json_document(view);
    char hash[24];
    (void)snprintf(hash, sizeof(hash), "%016" PRIx64, view->config_hash);
    json_string(&json, NULL, "version", view->version);
    json_bool(&json, NULL, "simulated", view->simulated);
    json_bool(&json, NULL, "replay", view->replayed);
    json_string(&json, NULL, "hostname", view->hostname);
    add_hardware(&json, view, snapshot);
    add_not_live(&json, view, snapshot);
    cJSON *config = json_object(&json, NULL, "config");
    json_string(&json, config, "profile", view->profile);
    json_string(&json, config, "hash", hash);
    add_schedule(&json, view);
    cJSON *last = json_object(&json, NULL, "snapshot");
    json_whole(&json, last, "sequence", snapshot->sequence);
    json_number(&json, last, "timestamp_seconds",
                snapshot->values[snapshot_self(view->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)]);
    add_recording(&json, view, snapshot);
    add_process(&json, view, snapshot);
    json_attention(&json, view, snapshot);
    int r = json_finish(&json, true, out);
    text_string(out, "\n");
    return r < 0 ? r : out->failed ? -ENOMEM : 0;
}
