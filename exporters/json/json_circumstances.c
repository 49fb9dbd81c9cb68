// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_circumstances.h"

#include "exporters/view/view_bound.h"

static void add_words(struct json *json, const char *key, const struct snapshot *snapshot, const struct outliers *of,
                      void (*put)(const struct snapshot *, const struct outliers *, struct text *)) {
    struct text words = {0};
    put(snapshot, of, &words);
    text_append(&words, "", 1);
    json_string(json, key, words.failed ? "" : words.data);
    json->out->failed = json->out->failed || words.failed;
    text_free(&words);
}

static void add_outliers(struct json *json, const struct snapshot *snapshot, const struct outliers *of) {
    static const char *const units[OUTLIERS_UNIT_N] = {"cpu", "core", "socket"};
    const struct snapshot_layout *layout = snapshot->layout;
    json_begin_object(json, NULL);
    add_words(json, "text", snapshot, of, view_bound_cpus);
    add_words(json, "sentence", snapshot, of, view_bound_outliers);
    json_string(json, "unit", units[of->unit]);
    json_whole(json, "n_units", of->n_units);
    json_whole(json, "n_cpus", of->n);
    json_begin_array(json, "cpus");
    for (size_t i = 0; i < of->n_ranges; i++) {
        json_begin_object(json, NULL);
        json_whole(json, "first", of->ranges[i].first);
        json_whole(json, "last", of->ranges[i].last);
        json_whole(json, "socket", layout->topology->sockets[of->ranges[i].socket].id);
        json_end_object(json);
    }
    json_end_array(json);
    if (of->socket >= 0)
        json_whole(json, "socket", layout->topology->sockets[of->socket].id);
    else
        json_null(json, "socket");
    json_number(json, "lost_cpus", of->slots);
    json_string(json, "metric", layout->catalog->metrics[of->metric].export_name);
    json_number(json, "share", of->share);
    json_number(json, "usual_share", of->usual);
    json_string(json, "last_metric", layout->catalog->metrics[of->last].export_name);
    json_number(json, "last_share", of->last_share);
    json_end_object(json);
}

static const char *name_of(const struct snapshot *snapshot, int metric) {
    return metric >= 0 ? snapshot->layout->catalog->metrics[metric].export_name : NULL;
}

static void add_phases(struct json *json, const struct snapshot *snapshot) {
    const struct verdict_phases *phases = &snapshot->circumstances.phases;
    json_begin_object(json, "phases");
    json_bool(json, "swings", phases->swings);
    json_number(json, "seconds", phases->seconds);
    json_whole(json, "changes", phases->changes);
    json_string(json, "usual", name_of(snapshot, phases->usual));
    json_number(json, "usual_share", phases->usual_share);
    json_string(json, "other", name_of(snapshot, phases->other));
    json_number(json, "other_share", phases->other_share);
    json_string(json, "now", name_of(snapshot, phases->now));
    json_number(json, "now_seconds", phases->now_seconds);
    json_end_object(json);
}

void json_circumstances(struct json *json, const struct snapshot *snapshot) {
    const struct circumstances *of = &snapshot->circumstances;
    json_begin_object(json, "circumstances");
    json_number(json, "utilization_ratio", of->utilisation);
    json_string(json, "utilization_source", isnan(of->utilisation) ? NULL : of->kernels ? "kernel" : "pmu");
    json_number(json, "utilization_ratio_of_busiest_cpu", of->busiest);
    json_bool(json, "idle", of->idle);
    json_number(json, "frequency_hertz", of->hertz);
    json_number(json, "frequency_least_hertz", of->limit_hertz);
    json_bool(json, "slow", of->slow);
    json_number(json, "sibling_ratio", of->siblings);
    json_bool(json, "crowded", of->crowded);
    json_begin_array(json, "outliers");
    for (size_t i = 0; i < of->n_outliers; i++)
        add_outliers(json, snapshot, &of->outliers[i]);
    json_end_array(json);
    json_bool(json, "rest_is_fine", of->rest_is_fine);
    add_phases(json, snapshot);
    json_end_object(json);
}

void json_cause(struct json *json, const struct snapshot *snapshot, const struct verdict *verdict) {
    const struct verdict_cause *cause = &verdict->cause;
    if (cause->kind == CAUSE_NONE) {
        json_null(json, "cause");
        return;
    }
    json_begin_object(json, "cause");
    json_string(json, "kind", view_bound_cause_name(cause->kind));
    json_string(json, "metric", name_of(snapshot, cause->metric));
    json_number(json, "share", cause->share);
    json_end_object(json);
}
