// SPDX-License-Identifier: Apache-2.0
#include "daemon/command/list_pmus.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/host/host_bind.h"
#include "collectors/uncore/uncore_find.h"
#include "config/spec/spec_json.h"
#include "config/spec/uncore_kinds_json.h"
#include "core/uncore/uncore.h"
#include "daemon/command/list_chosen.h"
#include "daemon/uncore/uncore_sim.h"

enum { PATH_BYTES = 512 };

static const char LEFT_OUT[] = "uncore.boxes leaves it out";

const struct table_column list_pmu_columns[LIST_PMU_COLUMNS] = {
    {"name", "NAME", TABLE_TEXT},         {"group", "GROUP", TABLE_TEXT},     {"spec", "SPEC", TABLE_TEXT},
    {"pmu", "PMU", TABLE_TEXT},           {"boxes", "BOXES", TABLE_NUMBER},   {"event", "EVENT", TABLE_TEXT},
    {"config", "CONFIG", TABLE_TEXT},     {"config1", "CONFIG1", TABLE_TEXT}, {"config2", "CONFIG2", TABLE_TEXT},
    {"not_encoded", NULL, TABLE_TEXT},    {"traffic", "TRAFFIC", TABLE_TEXT}, {"bytes", "BYTES", TABLE_NUMBER},
    {"kernel_bytes", NULL, TABLE_NUMBER}, {"groups", "GROUPS", TABLE_TEXTS},  {"title", "TITLE", TABLE_TEXT},
};

const struct table_column list_box_columns[LIST_BOX_COLUMNS] = {
    {"name", "NAME", TABLE_TEXT},   {"group", "GROUP", TABLE_TEXT},   {"box", "BOX", TABLE_TEXT},
    {"type", "TYPE", TABLE_NUMBER}, {"cpu", "CPU", TABLE_NUMBER},     {"socket", "SOCKET", TABLE_NUMBER},
    {"node", "NODE", TABLE_NUMBER}, {"reason", "REASON", TABLE_TEXT},
};

// Loads a kind's spec; on a host, with its events in the formats of the kind's first box.
static int load(const struct list_pmus *list, const struct uncore_found *found, struct errors *errors,
                struct catalog **out) {
    char path[PATH_BYTES];
    struct catalog_builder *builder;
    struct host_binding binding;
    (void)snprintf(path, sizeof path, "%s/uncore/%s.json", list->folder, found->kind->spec);
    int r = spec_json_read(path, NULL, errors, &builder);
    if (r < 0)
        return r;
    if (found->boxes.n > 0 && list->roots) {
        const struct uncore_box *box = &found->boxes.boxes[0];
        r = host_bind(list->roots, box->pmu, box->type, builder, &binding);
        if (r == 0)
            host_binding_deinit(&binding);
    }
    if (r == 0)
        *out = catalog_builder_finish(builder);
    else
        catalog_builder_free(builder);
    return r;
}

// The traffic that an event is part of, and the bytes that a count of it stands for.
static void add_traffic(const struct catalog *catalog, unsigned event, struct table *table) {
    double bytes;
    enum traffic traffic = uncore_traffic(catalog, event, &bytes);
    table_text(table, traffic_table[traffic].name);
    if (traffic != TRAFFIC_NONE)
        table_format(table, "%.10g", bytes);
    else
        table_text(table, NULL);
}

// The bytes that the kernel itself says a count of the event is, if it names the event and has a scale in bytes for it.
static void add_kernel_bytes(const struct list_pmus *list, const struct uncore_found *found,
                             const struct catalog *catalog, unsigned event, struct table *table) {
    double bytes;
    for (size_t a = 0; a < catalog->names.n_aliases && found->boxes.n > 0 && list->roots; a++)
        if (catalog_find_event(catalog, catalog->names.aliases[a]) == (int)event &&
            uncore_find_bytes(list->roots, found->boxes.boxes[0].pmu, catalog->names.aliases[a], &bytes) == 0) {
            table_format(table, "%.10g", bytes);
            return;
        }
    table_text(table, NULL);
}

// A metric's formula has the events, or the metrics before it that have them.
static bool needs(const struct catalog *catalog, unsigned metric, unsigned event) {
    const struct formula *formula = catalog->metrics[metric].formula;
    bool found = false;
    for (size_t i = 0; i < formula->n_variables && !found; i++)
        found = formula->variables[i] == event;
    for (size_t i = 0; i < formula->n_metrics && !found; i++)
        found = needs(catalog, formula->metrics[i], event);
    return found;
}

// The metric groups that need an event, by which the configuration selects it. Unions of others are no choice.
static void add_groups(const struct catalog *catalog, unsigned event, struct table *table) {
    const char *names[CATALOG_GROUPS_MAX];
    size_t n = 0;
    for (size_t g = 0; g < catalog->n_groups; g++) {
        const struct catalog_group *group = &catalog->groups[g];
        bool any = false;
        for (size_t m = 0; m < group->n_metrics && !any; m++)
            any = needs(catalog, group->metrics[m], event);
        if (any && strncmp(group->name, "stage_", 6) != 0)
            names[n++] = group->name;
    }
    table_texts(table, names, n);
}

static void add_event(const struct list_pmus *list, const struct uncore_found *found, const struct catalog *catalog,
                      unsigned index, struct table *table) {
    const struct catalog_event *event = &catalog->events[index];
    const uint64_t words[] = {event->code.config, event->code.config1, event->code.config2};
    table_text(table, found->kind->name);
    table_text(table, found->kind->group);
    table_text(table, found->kind->spec);
    table_text(table, found->kind->pattern);
    if (list->roots || list->simulated)
        table_format(table, "%zu", found->boxes.n);
    else
        table_text(table, NULL);
    table_text(table, event->name);
    for (int i = 0; i < 3; i++) {
        if (event->uncoded)
            table_text(table, NULL);
        else
            table_format(table, "0x%" PRIx64, words[i]);
    }
    table_text(table, event->uncoded);
    add_traffic(catalog, index, table);
    add_kernel_bytes(list, found, catalog, index, table);
    add_groups(catalog, index, table);
    table_text(table, event->title);
}

static int add_kind(const struct list_pmus *list, const struct uncore_found *found, struct errors *errors,
                    struct table *table) {
    struct catalog *catalog;
    int r = load(list, found, errors, &catalog);
    if (r < 0)
        return r;
    for (unsigned e = 0; e < catalog->n_events; e++)
        if (catalog->events[e].kind == EVENT_COUNTED)
            add_event(list, found, catalog, e, table);
    catalog_free(catalog);
    return 0;
}

static void add_number(int number, struct table *table) {
    if (number >= 0)
        table_format(table, "%d", number);
    else
        table_text(table, NULL);
}

static int add_boxes(const struct list_pmus *list, const struct uncore_found *found, struct errors *errors,
                     struct table *table) {
    (void)errors;
    for (size_t b = 0; b < found->boxes.n; b++) {
        const struct uncore_box *box = &found->boxes.boxes[b];
        table_text(table, found->kind->name);
        table_text(table, found->kind->group);
        table_text(table, box->pmu);
        if (list->simulated)
            table_text(table, NULL);
        else
            table_format(table, "%" PRIu32, box->type);
        table_format(table, "%u", box->cpu);
        add_number(box->place.package, table);
        add_number(box->place.node, table);
        table_text(table, list->config && config_uncore_leaves_out(list->config, box->pmu) ? LEFT_OUT : NULL);
    }
    for (size_t i = 0; i < found->n_unusable; i++) {
        table_text(table, found->kind->name);
        table_text(table, found->kind->group);
        table_text(table, found->unusable[i].pmu);
        for (int column = 3; column < LIST_BOX_COLUMNS - 1; column++)
            table_text(table, NULL);
        table_text(table, found->unusable[i].reason);
    }
    return 0;
}

typedef int adder(const struct list_pmus *list, const struct uncore_found *found, struct errors *errors,
                  struct table *table);

// A simulated kind under its own name; what else is known of kinds with its spec is that of real hosts.
static int add_simulated(const struct list_pmus *list, const struct uncore_kinds *kinds,
                         const struct scenario *simulated, struct errors *errors, adder *add, struct table *table) {
    struct uncore_kind kind = {.name = simulated->name, .spec = simulated->spec};
    struct uncore_found found = {.kind = &kind};
    size_t n = scenario_n_cpus(simulated);
    for (size_t k = 0; k < kinds->n && !kind.group; k++)
        if (strcmp(kinds->kinds[k].spec, kind.spec) == 0)
            kind.group = kinds->kinds[k].group;
    found.boxes.boxes = calloc(n, sizeof *found.boxes.boxes);
    if (!found.boxes.boxes)
        return -ENOMEM;
    while (found.boxes.n < n) {
        found.boxes.boxes[found.boxes.n] = uncore_sim_box(list->simulated, simulated, found.boxes.n);
        found.boxes.n++;
    }
    int r = add(list, &found, errors, table);
    uncore_boxes_deinit(&found.boxes);
    return r;
}

static int list_kinds(const struct list_pmus *list, adder *add, struct errors *errors, struct table *table) {
    char path[PATH_BYTES];
    struct uncore_kinds kinds;
    struct uncore_host host;
    (void)snprintf(path, sizeof path, "%s/uncore/kinds.json", list->folder);
    int r = uncore_kinds_json_load(path, errors, &kinds);
    if (r < 0)
        return r;
    for (const struct scenario *kind = list->simulated ? list->simulated->uncore : NULL; kind && r == 0;
         kind = kind->next)
        r = add_simulated(list, &kinds, kind, errors, add, table);
    if (list->simulated) {
        uncore_kinds_json_deinit(&kinds);
        return r;
    }
    r = list->roots ? uncore_find_here(list->roots, list->cpus, &kinds, &host)
                    : uncore_find(NULL, &kinds, list->specs, list->n, &host);
    if (r == 0) {
        for (size_t i = 0; i < host.n && r == 0; i++)
            r = add(list, &host.found[i], errors, table);
        if (r == 0 && list->roots && add == add_kind)
            r = list_chosen(list->roots, &host, table);
        uncore_host_deinit(&host);
    }
    uncore_kinds_json_deinit(&kinds);
    return r;
}

int list_pmus(const struct list_pmus *list, struct errors *errors, struct table *table) {
    return list_kinds(list, add_kind, errors, table);
}

int list_boxes(const struct list_pmus *list, struct errors *errors, struct table *table) {
    return list_kinds(list, add_boxes, errors, table);
}
