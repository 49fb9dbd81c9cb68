// SPDX-License-Identifier: Apache-2.0
#include "exporters/json/json_memory.h"

#include <math.h>

#include "core/memory/memory_metric.h"
#include "exporters/text/json_writer.h"
#include "exporters/view/view_memory.h"

static const char *const TOTALS[HOST_MEMORY_TOTALS_N] = {
    [HOST_MEMORY_LOCAL] = "local_allocations_total",        [HOST_MEMORY_REMOTE] = "remote_allocations_total",
    [HOST_MEMORY_MISSED] = "missed_allocations_total",      [HOST_MEMORY_HINT_LOCAL] = "local_hint_faults_total",
    [HOST_MEMORY_HINT_REMOTE] = "remote_hint_faults_total", [HOST_MEMORY_PROMOTED] = "promoted_bytes_total",
    [HOST_MEMORY_DEMOTED] = "demoted_bytes_total",          [HOST_MEMORY_BALANCED] = "balanced_bytes_total",
    [HOST_MEMORY_MIGRATED] = "migrated_pages_total",        [HOST_MEMORY_NOT_MIGRATED] = "not_migrated_pages_total",
};

static void add_totals(struct json *json, const struct host_memory *memory) {
    json_begin_object(json, "totals");
    for (size_t i = 0; i < HOST_MEMORY_TOTALS_N; i++)
        json_number(json, TOTALS[i], memory ? memory->totals[i] : NAN);
    json_end_object(json);
}

// What the counts came to since the reading before, under the names of the history.
static void add_values(struct json *json, const struct host_memory *memory, enum memory_scope scope, size_t place) {
    json_begin_object(json, "values");
    for (size_t i = 0; i < MEMORY_METRICS_N; i++)
        if (memory_metric_of((enum memory_metric)i, scope))
            json_number(json, memory_metrics[i].name,
                        memory ? memory_metric_value(memory, (enum memory_metric)i, scope, place) : NAN);
    json_end_object(json);
}

static void add_number(struct json *json, const char *key, int number) {
    if (number >= 0)
        json_whole(json, key, (uint64_t)number);
    else
        json_null(json, key);
}

static void add_node(struct json *json, const struct host_memory *memory, size_t place) {
    const struct host_memory_node *node = &memory->nodes[place];
    json_begin_object(json, NULL);
    json_whole(json, "node", node->id);
    add_number(json, "socket", node->socket);
    json_string(json, "kind", host_memory_kind_name(node->kind));
    add_number(json, "tier", node->tier);
    json_number(json, "bytes", node->bytes);
    json_number(json, "free_bytes", node->free_bytes);
    json_begin_object(json, "numastat");
    for (size_t i = 0; i < HOST_MEMORY_COUNTS_N; i++)
        json_number(json, host_memory_counts[i], node->counts[i]);
    json_end_object(json);
    add_values(json, memory, MEMORY_NODE, place);
    json_begin_object(json, "access");
    json_number(json, "read_bytes_per_second", node->access.read_bytes_per_second);
    json_number(json, "write_bytes_per_second", node->access.write_bytes_per_second);
    json_number(json, "read_seconds", node->access.read_seconds);
    json_number(json, "write_seconds", node->access.write_seconds);
    json_end_object(json);
    json_end_object(json);
}

static void add_bytes(struct json *json, const struct host_memory_bytes *bytes) {
    json_number(json, "local_bytes_total", bytes->local);
    json_number(json, "remote_bytes_total", bytes->remote);
    json_number(json, "all_bytes_total", bytes->all);
}

// Two sources of one thing, side by side.
static void add_socket(struct json *json, const struct shown *shown, size_t place) {
    const struct host_memory_socket *socket = &shown->memory->sockets[place];
    struct view_memory controllers;
    bool measured = view_memory_of(shown, socket->id, &controllers);
    json_begin_object(json, NULL);
    json_whole(json, "socket", socket->id);
    add_bytes(json, &socket->bytes);
    json_number(json, "bytes_per_second",
                memory_metric_value(shown->memory, MEMORY_METRIC_RESCTRL, MEMORY_SOCKET, place));
    json_number(json, "controllers_bytes_per_second", measured ? controllers.all : NAN);
    add_values(json, shown->memory, MEMORY_SOCKET, place);
    json_end_object(json);
}

static void add_domain(struct json *json, const struct host_memory_domain *domain) {
    json_begin_object(json, NULL);
    json_whole(json, "domain", domain->id);
    add_number(json, "socket", domain->socket);
    add_bytes(json, &domain->bytes);
    json_string(json, "gap", resctrl_gap_name(domain->gap));
    json_end_object(json);
}

static void add_group(struct json *json, const struct host_memory *memory, size_t group) {
    bool readable;
    struct host_memory_bytes bytes = host_memory_group_bytes(memory, group, &readable);
    json_begin_object(json, NULL);
    json_string(json, "group", memory->groups[group].name);
    json_bool(json, "monitoring", memory->groups[group].monitoring);
    add_bytes(json, &bytes);
    json_bool(json, "readable", readable);
    json_end_object(json);
}

static void add_resctrl(struct json *json, const struct shown *shown) {
    const struct host_memory *memory = shown->memory;
    enum resctrl_state state = memory ? memory->resctrl : RESCTRL_NOT_ASKED;
    json_begin_object(json, "resctrl");
    json_string(json, "state", resctrl_state_name(state));
    json_string(json, "text", resctrl_state_text(state));
    json_begin_array(json, "sockets");
    for (size_t i = 0; memory && i < memory->n_sockets; i++)
        add_socket(json, shown, i);
    json_end_array(json);
    json_begin_array(json, "domains");
    for (size_t i = 0; memory && i < memory->n_domains; i++)
        add_domain(json, &memory->domains[i]);
    json_end_array(json);
    json_begin_array(json, "groups");
    for (size_t i = 0; memory && i < memory->n_groups; i++)
        add_group(json, memory, i);
    json_end_array(json);
    json_number(json, "implausible_total", memory ? memory->implausible : 0);
    json_end_object(json);
}

static const char *why_none(const struct shown *shown, char out[VIEW_ELSEWHERE_MAX]) {
    const struct view *view = shown->types[0].view;
    if (shown->memory && shown->memory->n_nodes > 0)
        return NULL;
    if (!shown->memory && view_recorded_elsewhere(view, out))
        return out;
    return view->replayed && !shown->memory ? "the recording does not hold it"
           : view->simulated                ? "a simulated host has no kernel that counts"
                                            : "the configuration wants none, or the kernel is built without NUMA";
}

int json_render_memory(const struct shown *shown, struct text *out) {
    const struct host_memory *memory = shown->memory;
    struct json json = json_begin(out, JSON_INDENTED);
    char elsewhere[VIEW_ELSEWHERE_MAX];
    json_begin_object(&json, NULL);
    json_bool(&json, "simulated", shown->types[0].view->simulated);
    json_bool(&json, "replay", shown->types[0].view->replayed);
    json_number(&json, "timestamp_seconds", memory ? memory->timestamp_seconds : NAN);
    json_number(&json, "interval_seconds", memory && memory->seconds > 0 ? memory->seconds : NAN);
    json_string(&json, "reason", why_none(shown, elsewhere));
    json_string(&json, "problem", memory && memory->problem[0] != '\0' ? memory->problem : NULL);
    add_totals(&json, memory);
    add_values(&json, memory, MEMORY_HOST, 0);
    json_begin_array(&json, "nodes");
    for (size_t i = 0; memory && i < memory->n_nodes; i++)
        add_node(&json, memory, i);
    json_end_array(&json);
    add_resctrl(&json, shown);
    json_end_object(&json);
    return json_end(&json);
}
