// SPDX-License-Identifier: Apache-2.0
#include "config/scenario/scenario_json_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Mixes are a convenience of the file: an event's count per cycle, times utilisation, times frequency, is a rate. They
// are expanded here; a scenario in memory has only rates.
//
// This reader does not know the spec's events; the simulated PMU checks them.

enum {
    FILE_SIZE_MAX = 4 << 20,
    DEPTH_MAX = 16,
    ASSIGNMENTS_MAX = 256,
    RIVALS_MAX = 256,
    COUNTERS_MAX = 64,
    BOXES_MAX = 256 // of a kind in a socket
};

static const double JUMP_MAX = 9e18; // less than 2^63

static const double STAGGER_MAX = 1e5, FREQUENCY_MAX = 1e11;

static void read_cpus(const struct json_node *node, const struct scenario *scenario, struct cpuset *cpus) {
    const char *text;
    size_t n = scenario_n_cpus(scenario);
    if (!json_get_text(node, "cpus", JSON_REQUIRED, &text))
        return;
    if (cpuset_parse(text, cpus) < 0 || cpuset_count(cpus) == 0) {
        json_fail(node, "cpus is not a list of CPUs such as \"0-3,8\"");
        return;
    }
    for (unsigned cpu = 0; cpu < CPUSET_MAX; cpu++) {
        if (!cpuset_has(cpus, cpu) || scenario_has_cpu(scenario, cpu))
            continue;
        if (cpu < n)
            json_fail(node, "cpus names CPU %u, which is not of this core type", cpu);
        else
            json_fail(node, "cpus names CPU %u, and the host's are 0 to %zu", cpu, n - 1);
        return;
    }
}

static void read_assignment(struct scenario_reader *reader, const struct json_node *node, const struct json_node *loads,
                            struct scenario_assignment *assignment) {
    static const char *const keys[] = {"cpus", "load", "offset_seconds", "stagger_seconds"};
    const struct scenario *scenario = reader->scenario;
    const char *name;
    if (!json_is_object(node))
        return;
    json_check_keys(node, keys, COUNT(keys));
    read_cpus(node, scenario, &assignment->cpus);
    (void)json_get_number(node, "offset_seconds", JSON_OPTIONAL, 0, SCENARIO_SECONDS_MAX, &assignment->offset_seconds);
    (void)json_get_number(node, "stagger_seconds", JSON_OPTIONAL, 0, STAGGER_MAX, &assignment->stagger_seconds);
    if (!json_get_text(node, "load", JSON_REQUIRED, &name))
        return;
    for (size_t i = 0; i < scenario->n_loads; i++)
        if (strcmp(scenario->loads[i].name, name) == 0) {
            assignment->load = (unsigned)i;
            return;
        }
    scenario_fail_unknown(node, "load", name, loads);
}

static void read_assignments(struct scenario_reader *reader, const struct json_node *root,
                             const struct json_node *loads) {
    struct scenario *scenario = reader->scenario;
    struct json_node assignments;
    const cJSON *value;
    if (!json_get_array(root, "assignments", JSON_OPTIONAL, ASSIGNMENTS_MAX, &assignments))
        return;
    scenario->assignments = scenario_room_for(&assignments, sizeof *scenario->assignments);
    cJSON_ArrayForEach(value, assignments.value) {
        const struct json_node node = json_child(&assignments, value, scenario->n_assignments);
        if (scenario->assignments)
            read_assignment(reader, &node, loads, &scenario->assignments[scenario->n_assignments++]);
    }
}

static void read_kind(const struct json_node *node, struct scenario_rival *rival) {
    static const char *const names[] = {
        [RIVAL_PINNED] = "pinned", [RIVAL_FLEXIBLE] = "flexible", [RIVAL_TASK] = "task",
        [RIVAL_REFUSE] = "refuse", [RIVAL_OFFLINE] = "offline",   [RIVAL_JUMP] = "jump"};
    const char *kind;
    if (!json_get_text(node, "kind", JSON_REQUIRED, &kind))
        return;
    for (unsigned i = 0; i < COUNT(names); i++)
        if (strcmp(names[i], kind) == 0) {
            rival->kind = (enum scenario_rival_kind)i;
            return;
        }
    json_fail_suggest(node, kind, names, COUNT(names), "kind is none of pinned, flexible, task, refuse, offline, jump");
}

static void read_rival(const struct json_node *node, const struct scenario *scenario, struct scenario_rival *rival) {
    static const char *const keys[] = {"kind", "cpus",         "counters",      "cycles",         "slots",
                                       "by",   "from_seconds", "until_seconds", "period_seconds", "on_seconds"};
    if (!json_is_object(node))
        return;
    json_check_keys(node, keys, COUNT(keys));
    read_kind(node, rival);
    read_cpus(node, scenario, &rival->cpus);
    bool counts = rival->kind == RIVAL_PINNED || rival->kind == RIVAL_FLEXIBLE || rival->kind == RIVAL_TASK;
    (void)json_get_count(node, "counters", counts ? JSON_REQUIRED : JSON_OPTIONAL, 0, COUNTERS_MAX, &rival->counters);
    (void)json_get_bool(node, "cycles", JSON_OPTIONAL, &rival->cycles);
    (void)json_get_bool(node, "slots", JSON_OPTIONAL, &rival->slots);
    (void)json_get_number(node, "by", rival->kind == RIVAL_JUMP ? JSON_REQUIRED : JSON_OPTIONAL, -JUMP_MAX, JUMP_MAX,
                          &rival->by);
    (void)json_get_number(node, "from_seconds", JSON_OPTIONAL, 0, SCENARIO_SECONDS_MAX, &rival->from_seconds);
    (void)json_get_number(node, "until_seconds", JSON_OPTIONAL, 0, SCENARIO_SECONDS_MAX, &rival->until_seconds);
    (void)json_get_number(node, "period_seconds", JSON_OPTIONAL, 1e-3, SCENARIO_SECONDS_MAX, &rival->period_seconds);
    (void)json_get_number(node, "on_seconds", JSON_OPTIONAL, 1e-6, SCENARIO_SECONDS_MAX, &rival->on_seconds);
    if (rival->until_seconds != 0 && rival->until_seconds <= rival->from_seconds)
        json_fail(node, "until_seconds must be later than from_seconds, or 0 for ever");
    if ((rival->period_seconds > 0) != (rival->on_seconds > 0))
        json_fail(node, "period_seconds and on_seconds go together");
    else if (rival->on_seconds > rival->period_seconds)
        json_fail(node, "on_seconds is more than period_seconds");
}

static void read_rivals(struct scenario_reader *reader, const struct json_node *root) {
    struct scenario *scenario = reader->scenario;
    struct json_node rivals;
    const cJSON *value;
    if (!json_get_array(root, "rivals", JSON_OPTIONAL, RIVALS_MAX, &rivals))
        return;
    scenario->rivals = scenario_room_for(&rivals, sizeof *scenario->rivals);
    cJSON_ArrayForEach(value, rivals.value) {
        const struct json_node node = json_child(&rivals, value, scenario->n_rivals);
        if (scenario->rivals)
            read_rival(&node, scenario, &scenario->rivals[scenario->n_rivals++]);
    }
}

// Reads what all core types share.
static void read_shape(struct scenario_reader *reader, const struct json_node *root) {
    struct scenario *scenario = reader->scenario;
    const char *description = NULL;
    scenario->threads_per_core = 1;
    (void)json_get_text(root, "description", JSON_OPTIONAL, &description);
    if (description && !(scenario->description = strdup(description)))
        json_fail_memory(root);
    (void)json_get_count(root, "sockets", JSON_REQUIRED, 1, SCENARIO_CPUS_MAX, &scenario->sockets);
    (void)json_get_count(root, "cores_per_socket", JSON_REQUIRED, 1, SCENARIO_CPUS_MAX, &scenario->cores_per_socket);
    (void)json_get_count(root, "threads_per_core", JSON_OPTIONAL, 1, 8, &scenario->threads_per_core);
    unsigned parts_max = scenario->cores_per_socket > 0 ? scenario->cores_per_socket : 1;
    (void)json_get_count(root, "nodes_per_socket", JSON_OPTIONAL, 1, parts_max, &scenario->nodes_per_socket);
    (void)json_get_count(root, "caches_per_socket", JSON_OPTIONAL, 1, parts_max, &scenario->caches_per_socket);
    if (scenario_n_cpus(scenario) > SCENARIO_CPUS_MAX)
        json_fail(root, "the host has %zu CPUs; the limit is %d", scenario_n_cpus(scenario), SCENARIO_CPUS_MAX);
}

static void read_filtered(struct scenario *scenario, const struct json_node *node) {
    const char **names;
    size_t n;
    if (!json_get_texts(node, "filtered", JSON_OPTIONAL, SCENARIO_RATES_MAX, &names, &n))
        return;
    scenario->filtered = calloc(n + 1, sizeof *scenario->filtered);
    while (scenario->filtered && scenario->n_filtered < n &&
           (scenario->filtered[scenario->n_filtered] = strdup(names[scenario->n_filtered])))
        scenario->n_filtered++;
    if (scenario->n_filtered < n)
        json_fail_memory(node);
    free(names);
}

static void read_cores(struct scenario_reader *reader, const struct json_node *node) {
    struct scenario *scenario = reader->scenario;
    const char *spec = "";
    bool validates = true;
    (void)json_get_text(node, "spec", JSON_REQUIRED, &spec);
    (void)json_get_count(node, "general_counters", JSON_REQUIRED, 0, COUNTERS_MAX, &scenario->general_counters);
    (void)json_get_bool(node, "validates", JSON_OPTIONAL, &validates);
    (void)json_get_bool(node, "surplus", JSON_OPTIONAL, &scenario->surplus);
    scenario->validates_nothing = !validates;
    (void)json_get_number(node, "maximum_frequency_hz", JSON_OPTIONAL, 0, FREQUENCY_MAX,
                          &scenario->maximum_frequency_hz);
    (void)json_get_number(node, "frequency_hz", JSON_OPTIONAL, 1, FREQUENCY_MAX, &reader->frequency_hz);
    (void)json_get_number(node, "clock_hz", JSON_OPTIONAL, 0, FREQUENCY_MAX, &scenario->clock_hz);
    (void)json_get_object(node, "mixes", JSON_OPTIONAL, &reader->mixes);
    read_filtered(scenario, node);
    scenario->name = json_file_stem(reader->reader.file);
    scenario->spec = strdup(spec);
    if (!scenario->name || !scenario->spec)
        json_fail_memory(node);
}

// Reads the loads of the cores and the rivals for their counters.
static void read_life(struct scenario_reader *reader, const struct json_node *node) {
    struct json_node loads;
    if (reader->reader.status != 0) // it refers to the rest
        return;
    if (!json_get_object(node, "loads", JSON_REQUIRED, &loads))
        return;
    scenario_read_loads(reader, &loads);
    read_assignments(reader, node, &loads);
    read_rivals(reader, node);
}

// Reports a core type that nothing distinguishes from another one, or that shares CPUs with one.
static void check_core_type(const struct json_node *node, const struct scenario *first, const struct scenario *type) {
    for (const struct scenario *other = first; other != type; other = other->next) {
        if (strcmp(other->spec, type->spec) == 0)
            json_fail(node, "has the spec of another core type: %s", type->spec);
        for (unsigned cpu = 0; cpu < scenario_n_cpus(type); cpu++)
            if (cpuset_has(&other->cpus, cpu) && cpuset_has(&type->cpus, cpu)) {
                json_fail(node, "CPU %u is of two core types", cpu);
                return;
            }
    }
}

static void read_core_type(struct scenario_reader *reader, const struct json_node *node, const struct scenario *first) {
    static const char *const keys[] = {"spec",
                                       "cpus",
                                       "general_counters",
                                       "validates",
                                       "surplus",
                                       "filtered",
                                       "frequency_hz",
                                       "maximum_frequency_hz",
                                       "clock_hz",
                                       "mixes",
                                       "loads",
                                       "assignments",
                                       "rivals"};
    struct scenario *type = reader->scenario;
    struct cpuset cpus = {{0}};
    if (!json_is_object(node))
        return;
    type->sockets = first->sockets;
    type->cores_per_socket = first->cores_per_socket;
    type->threads_per_core = first->threads_per_core;
    type->nodes_per_socket = first->nodes_per_socket;
    type->caches_per_socket = first->caches_per_socket;
    reader->frequency_hz = 0;
    reader->mixes = (struct json_node){0};
    json_check_keys(node, keys, COUNT(keys));
    read_cpus(node, type, &cpus);
    read_cores(reader, node);
    type->cpus = cpus;
    if (reader->reader.status == 0)
        check_core_type(node, first, type);
    read_life(reader, node);
}

static void read_core_types(struct scenario_reader *reader, const struct json_node *root,
                            const struct json_node *types) {
    static const char *const keys[] = {"description",      "sockets",           "cores_per_socket", "threads_per_core",
                                       "nodes_per_socket", "caches_per_socket", "core_types",       "uncore"};
    struct scenario *first = reader->scenario;
    const cJSON *value;
    size_t n = 0;
    json_check_keys(root, keys, COUNT(keys));
    cJSON_ArrayForEach(value, types->value) {
        const struct json_node type = json_child(types, value, n);
        if (reader->reader.status != 0)
            break;
        if (n++ > 0)
            reader->scenario = reader->scenario->next = calloc(1, sizeof *first);
        if (reader->scenario)
            read_core_type(reader, &type, first);
        else
            json_fail_memory(&type);
    }
    if (n < 2 && reader->reader.status == 0)
        json_fail(types, "needs at least two core types: write one without core_types");
    reader->scenario = first;
}

// A box is a core with one thread, and `cpus` are the numbers of boxes here.
static void read_boxes(struct scenario_reader *reader, const struct json_node *node, const struct scenario *host) {
    static const char *const keys[] = {"kind", "spec", "boxes_per_socket", "peak", "loads", "assignments", "rivals"};
    struct scenario *kind = reader->scenario;
    const char *name = "", *spec = "";
    if (!json_is_object(node))
        return;
    json_check_keys(node, keys, COUNT(keys));
    (void)json_get_text(node, "kind", JSON_REQUIRED, &name);
    (void)json_get_text(node, "spec", JSON_REQUIRED, &spec);
    (void)json_get_count(node, "boxes_per_socket", JSON_REQUIRED, 1, BOXES_MAX, &kind->cores_per_socket);
    (void)json_get_number(node, "peak", JSON_OPTIONAL, 1, 1e15, &kind->memory_bytes_per_second);
    kind->sockets = host->sockets;
    kind->threads_per_core = 1;
    if (!(kind->name = strdup(name)) || !(kind->spec = strdup(spec)))
        json_fail_memory(node);
    read_life(reader, node);
}

static void read_uncore(struct scenario_reader *reader, const struct json_node *root) {
    struct scenario *host = reader->scenario, **end = &host->uncore;
    struct json_node kinds;
    const cJSON *value;
    size_t n = 0;
    if (!json_get_array(root, "uncore", JSON_OPTIONAL, SCENARIO_UNCORE_MAX, &kinds))
        return;
    reader->mixes = (struct json_node){0};
    cJSON_ArrayForEach(value, kinds.value) {
        const struct json_node kind = json_child(&kinds, value, n++);
        reader->scenario = *end = calloc(1, sizeof **end);
        if (*end)
            read_boxes(reader, &kind, host);
        else
            json_fail_memory(&kind);
        end = *end ? &(*end)->next : end;
    }
    reader->scenario = host;
}

static void read_document(struct scenario_reader *reader, const struct json_node *root) {
    static const char *const keys[] = {"description",
                                       "spec",
                                       "sockets",
                                       "cores_per_socket",
                                       "threads_per_core",
                                       "nodes_per_socket",
                                       "caches_per_socket",
                                       "general_counters",
                                       "validates",
                                       "surplus",
                                       "filtered",
                                       "frequency_hz",
                                       "maximum_frequency_hz",
                                       "clock_hz",
                                       "mixes",
                                       "loads",
                                       "assignments",
                                       "rivals",
                                       "uncore"};
    struct json_node types;
    if (cJSON_GetObjectItemCaseSensitive(root->value, "core_types")) {
        read_shape(reader, root);
        if (json_get_array(root, "core_types", JSON_REQUIRED, SCENARIO_CORE_TYPES_MAX, &types))
            read_core_types(reader, root, &types);
        read_uncore(reader, root);
        return;
    }
    json_check_keys(root, keys, COUNT(keys));
    read_cores(reader, root);
    read_shape(reader, root);
    read_life(reader, root);
    read_uncore(reader, root);
}

// Reads the document and takes ownership of it; NULL if there is none.
static int read_scenario(struct scenario_reader *reader, cJSON *document, struct scenario **out) {
    if (document) {
        const struct json_node root = json_root(&reader->reader, document);
        reader->scenario = calloc(1, sizeof *reader->scenario);
        if (reader->scenario)
            read_document(reader, &root);
        else
            json_fail_memory(&root);
    }
    if (reader->reader.status == 0)
        *out = reader->scenario;
    else
        scenario_free(reader->scenario);
    cJSON_Delete(document);
    return reader->reader.status;
}

int scenario_json_parse(const char *name, const char *text, size_t length, struct errors *errors,
                        struct scenario **out) {
    struct scenario_reader reader = {.reader = {.file = name, .errors = errors}};
    return read_scenario(&reader, json_parse(&reader.reader, text, length, DEPTH_MAX), out);
}

int scenario_json_load(const char *path, struct errors *errors, struct scenario **out) {
    struct scenario_reader reader = {.reader = {.file = path, .errors = errors}};
    return read_scenario(&reader, json_load(&reader.reader, FILE_SIZE_MAX, DEPTH_MAX), out);
}
