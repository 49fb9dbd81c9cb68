// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/spec/spec_json.h"
#include "config/spec/spec_json_private.h"

// Arm's file for a mesh has a specification for each type of node, `components`, and metrics over them. It becomes one
// document in the form of all specs: events with the type of their node, formulas in our grammar.

enum { FORMULA_MAX = 4096, NAME_MAX_BYTES = 160, TYPE_RNI = 0xa, TYPE_DTC = 0x3, TYPE_HNS = 0x200 };

static const char CYCLES[] = "SYS_CMN_CYCLES";

struct mesh {
    const cJSON *document;
    const struct spec_mesh_nodes *nodes;
    cJSON *made, *events, *metrics, *groups;
    bool failed; // out of memory
};

static const cJSON *get(const cJSON *object, const char *key) { return cJSON_GetObjectItemCaseSensitive(object, key); }

static bool has_node(const struct mesh *mesh, const char *node) {
    return !mesh->nodes || mesh->nodes->has(mesh->nodes->context, node);
}

// ---- events ----

// An event of a node's type. Linux counts RN-D as RN-I.
static void add_event(struct mesh *mesh, const char *name, const cJSON *event, const cJSON *code, int type,
                      int filter) {
    char text[24];
    cJSON *made = cJSON_CreateObject();
    cJSON *ours = made ? cJSON_AddObjectToObject(made, "topdownd") : NULL;
    const char *title = cJSON_GetStringValue(get(event, "title"));
    (void)snprintf(text, sizeof text, "0x%x", (unsigned)type);
    mesh->failed = mesh->failed || !ours || !cJSON_AddStringToObject(ours, "type", text) ||
                   !cJSON_AddStringToObject(made, "code", code ? code->valuestring : "0x0") ||
                   !cJSON_AddStringToObject(made, "title", title ? title : name) ||
                   (type == TYPE_DTC && !cJSON_AddNumberToObject(ours, "takes", 0));
    (void)snprintf(text, sizeof text, "0x%x", (unsigned)filter);
    mesh->failed = mesh->failed || (filter > 0 && !cJSON_AddStringToObject(ours, "occupid", text));
    if (mesh->failed || get(mesh->events, name) || !cJSON_AddItemToObject(mesh->events, name, made))
        cJSON_Delete(made);
}

static int type_of(const cJSON *component) {
    const cJSON *type = get(get(component, "product_configuration"), "device_id");
    const char *name = component->string;
    return !cJSON_IsNumber(type) ? -1 : strcmp(name, "RND") == 0 ? TYPE_RNI : type->valueint;
}

static void add_events(struct mesh *mesh, const cJSON *component) {
    const cJSON *event;
    int type = type_of(component);
    cJSON_ArrayForEach(event, get(component, "events")) {
        const cJSON *code = get(event, "code");
        if (type >= 0 && cJSON_IsString(code))
            add_event(mesh, event->string, event, code, type, 0);
    }
}

// ---- formulas ----

// A node has one value of a filter at a time: no filter is one of them.
static void add_no_filter(struct mesh *mesh, const char *event) {
    cJSON *ours = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(mesh->events, event), "topdownd");
    if (ours && !get(ours, "occupid") && !cJSON_AddStringToObject(ours, "occupid", "0x0"))
        mesh->failed = true;
}

// Linux has the filter of requests, and for nodes of later meshes that of lines by their home.
static bool has_filter(const cJSON *component, const char *kind) {
    return strcmp(kind, "occupancy_filter") == 0 ||
           (strcmp(kind, "hbt_lbt_filter") == 0 && type_of(component) == TYPE_HNS);
}

// A metric's name of another event for each filter that it sets; an event with a filter that the driver has.
static const char *filtered(struct mesh *mesh, const cJSON *component, const cJSON *metric, const char *word,
                            char *out) {
    const cJSON *filter;
    cJSON_ArrayForEach(filter, get(metric, "filters")) {
        const char *event = cJSON_GetStringValue(get(filter, "event")),
                   *kind = cJSON_GetStringValue(get(filter, "filter_name"));
        const char *value = cJSON_GetStringValue(cJSON_GetArrayItem(get(filter, "encodings"), 0));
        if (!event || !kind || !value || strcmp(event, word) != 0)
            continue;
        const cJSON *number =
            get(get(get(get(get(get(component, "filter_specification"), "filters"), kind), "encodings"), value),
                "encoding");
        (void)snprintf(out, NAME_MAX_BYTES, "%s.%s", event, value);
        if (!cJSON_IsNumber(number) || number->valueint == 0)
            return word;
        const cJSON *base = get(get(component, "events"), event);
        if (has_filter(component, kind) && base && cJSON_IsString(get(base, "code"))) {
            add_event(mesh, out, base, get(base, "code"), type_of(component), number->valueint);
            add_no_filter(mesh, event);
        }
        return out;
    }
    return word;
}

// The node of a metric over nodes, if this mesh lacks it; NULL: it has it, or the word is no metric of a node.
static bool is_missing(const struct mesh *mesh, const char *word) {
    const cJSON *component;
    cJSON_ArrayForEach(component, get(mesh->document, "components")) {
        if (get(get(component, "metrics"), word))
            return !has_node(mesh, component->string);
    }
    return false;
}

static void put_word(struct mesh *mesh, const cJSON *component, const cJSON *metric, const char *word, FILE *out) {
    char name[NAME_MAX_BYTES];
    if (strcmp(word, "SYS_FREQUENCY") == 0) // in kHz: metrics per 1,000 cycles times it are per second
        (void)fprintf(out, "(%s / cpu_seconds / 1000)", CYCLES);
    else if (!component && is_missing(mesh, word))
        (void)fputs("0", out); // nothing passes nodes that are not there
    else
        (void)fputs(component ? filtered(mesh, component, metric, word, name) : word, out);
}

// (A + B << N) is (2^N * (A + B)): the shift binds looser than the sum.
static char *shifts_replaced(char *text) {
    char *shift, *made = NULL;
    while (text && (shift = strstr(text, "<<"))) {
        char *open = shift, *end;
        while (open > text && *open != '(')
            open--;
        unsigned long bits = strtoul(shift + 2, &end, 10);
        if (*open != '(' || *end != ')' || bits > 32 ||
            asprintf(&made, "%.*s(%lu * (%.*s)%s", (int)(open - text), text, 1UL << bits, (int)(shift - open - 1),
                     open + 1, end) < 0)
            made = NULL;
        free(text);
        text = made;
    }
    return text;
}

// The metric's formula in our grammar, for free(); NULL if there is none.
static char *formula_of(struct mesh *mesh, const cJSON *component, const cJSON *metric) {
    const char *formula = cJSON_GetStringValue(get(metric, "formula"));
    char *text = NULL;
    size_t size;
    FILE *out = formula ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    for (const char *at = formula; *at != '\0';) {
        char word[NAME_MAX_BYTES];
        size_t n = 0;
        while (isalnum((unsigned char)at[n]) || at[n] == '_')
            n++;
        if (n > 0 && n < sizeof word && !isdigit((unsigned char)*at)) {
            (void)snprintf(word, sizeof word, "%.*s", (int)n, at);
            put_word(mesh, component, metric, word, out);
        } else {
            (void)fprintf(out, "%.*s", n > 0 ? (int)n : 1, at);
        }
        at += n > 0 ? n : 1;
    }
    mesh->failed = fclose(out) != 0 || mesh->failed;
    return shifts_replaced(text);
}

// ---- the document ----

static void add_metrics(struct mesh *mesh, const cJSON *component, const cJSON *from) {
    static const char *const kept[] = {"title", "description", "units"};
    const cJSON *metric;
    cJSON_ArrayForEach(metric, get(from, "metrics")) {
        char *formula = formula_of(mesh, component, metric);
        cJSON *made = cJSON_AddObjectToObject(mesh->metrics, metric->string);
        mesh->failed = mesh->failed || !made || (formula && !cJSON_AddStringToObject(made, "formula", formula));
        for (size_t i = 0; i < COUNT(kept) && !mesh->failed; i++) {
            const char *text = cJSON_GetStringValue(get(metric, kept[i]));
            mesh->failed = text && !cJSON_AddStringToObject(made, kept[i], text);
        }
        free(formula);
    }
}

// Groups of nodes that the mesh lacks are left out, and so are their metrics in groups over nodes.
static void add_groups(struct mesh *mesh, const cJSON *from) {
    const cJSON *group, *metric;
    cJSON_ArrayForEach(group, get(get(from, "groups"), "metrics")) {
        cJSON *made = cJSON_Duplicate(group, true), *kept = made ? cJSON_AddArrayToObject(made, "kept") : NULL;
        cJSON_ArrayForEach(metric, get(group, "metrics")) {
            cJSON *copy = cJSON_IsString(metric) && get(mesh->metrics, metric->valuestring)
                              ? cJSON_Duplicate(metric, false)
                              : NULL;
            if (copy && !cJSON_AddItemToArray(kept, copy))
                cJSON_Delete(copy);
        }
        cJSON *list = made ? cJSON_DetachItemFromObjectCaseSensitive(made, "kept") : NULL;
        mesh->failed = mesh->failed || !list;
        if (!mesh->failed && cJSON_GetArraySize(list) > 0 && !get(mesh->groups, group->string) &&
            cJSON_ReplaceItemInObjectCaseSensitive(made, "metrics", list) &&
            cJSON_AddItemToObject(mesh->groups, group->string, made))
            continue;
        cJSON_Delete(list);
        cJSON_Delete(made);
    }
}

static void fill(struct mesh *mesh) {
    const cJSON *component;
    add_event(mesh, CYCLES, NULL, NULL, TYPE_DTC, 0);
    cJSON_ArrayForEach(component, get(mesh->document, "components")) {
        if (!has_node(mesh, component->string))
            continue;
        add_events(mesh, component);
        add_metrics(mesh, component, component);
        add_groups(mesh, component);
    }
    add_metrics(mesh, NULL, mesh->document);
    add_groups(mesh, mesh->document);
}

// What the driver of Linux adds: its format, and counters. A crosspoint has four, and may have two nodes of a type. A
// node has a register with a field for each filter.
static const char OURS[] = "{\"vendor\": \"Arm\", \"microarchitecture\": \"arm-cmn\", \"pmu\": \"arm_cmn*\","
                           "\"format\": {\"type\": \"config:0-15\", \"eventid\": \"config:16-26\", \"occupid\": "
                           "\"config:27-30\", \"bynodeid\": \"config:31\", \"nodeid\": \"config:32-47\"},"
                           "\"shared_registers\": {\"occupid\": 1}, \"counters\": {\"general\": 8, \"group\": 2}}";

static bool is_absent_or_object(const cJSON *value) { return !value || cJSON_IsObject(value); }

// Names are the keys of objects: a list in the place of one has none.
static bool has_names(const cJSON *node) {
    const cJSON *groups = get(node, "groups");
    return cJSON_IsObject(node) && is_absent_or_object(get(node, "events")) &&
           is_absent_or_object(get(node, "metrics")) && is_absent_or_object(groups) &&
           is_absent_or_object(get(groups, "metrics"));
}

static bool is_mesh(const cJSON *document) {
    const cJSON *component, *components = get(document, "components");
    if (!cJSON_IsObject(components) || !cJSON_IsObject(get(document, "product_configuration")) || !has_names(document))
        return false;
    cJSON_ArrayForEach(component, components) {
        if (!has_names(component))
            return false;
    }
    return true;
}

static cJSON *make(const cJSON *document, const struct spec_mesh_nodes *nodes) {
    struct mesh mesh = {.document = document, .nodes = nodes, .made = cJSON_CreateObject()};
    cJSON *ours = cJSON_Parse(OURS), *product = cJSON_Duplicate(get(document, "product_configuration"), true);
    cJSON *groups = cJSON_AddObjectToObject(mesh.made, "groups");
    mesh.events = cJSON_AddObjectToObject(mesh.made, "events");
    mesh.metrics = cJSON_AddObjectToObject(mesh.made, "metrics");
    mesh.groups = cJSON_AddObjectToObject(groups, "metrics");
    mesh.failed = !ours || !product || !mesh.events || !mesh.metrics || !mesh.groups ||
                  !cJSON_AddStringToObject(product, "part_num", "");
    if (!mesh.failed)
        fill(&mesh);
    if (!mesh.failed && cJSON_AddItemToObject(mesh.made, "topdownd", ours))
        ours = NULL;
    if (!mesh.failed && cJSON_AddItemToObject(mesh.made, "product_configuration", product))
        product = NULL;
    if (!mesh.failed && !ours && !product)
        return mesh.made;
    cJSON_Delete(ours);
    cJSON_Delete(product);
    cJSON_Delete(mesh.made);
    return NULL;
}

int spec_json_read_mesh(const char *path, const struct spec_mesh_nodes *nodes, struct errors *errors,
                        struct catalog_builder **out) {
    struct spec_reader spec = {.reader = {.file = path, .errors = errors, .lenient = true}};
    cJSON *document = json_load(&spec.reader, SPEC_FILE_MAX, SPEC_DEPTH_MAX), *made = NULL;
    if (!document)
        return spec.reader.status;
    bool mesh = is_mesh(document);
    if (mesh)
        made = make(document, nodes);
    cJSON_Delete(document);
    if (!mesh)
        return errors_add(
            errors, path, 0, 0,
            "describes no mesh: it lacks components, or a list stands where Arm's files have names. Name a folder "
            "of https://gitlab.arm.com/telemetry-solution for `specs`");
    return made ? spec_read(&spec, made, out) : -ENOMEM;
}
