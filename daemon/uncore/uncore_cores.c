// SPDX-License-Identifier: Apache-2.0
#include "daemon/uncore/uncore_cores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exporters/view/shown.h"

// ---- what they counted ----

static bool same_code(const struct pmu_event *a, const struct pmu_event *b) {
    return a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 && a->exclude == b->exclude;
}

// The event's place among those of the snapshots; -1: it is not counted.
static int place_of(const struct snapshot_layout *layout, const struct pmu_event *event) {
    for (size_t i = 0; i < layout->n_events; i++) {
        const struct catalog_event *own = &layout->catalog->events[layout->events[i]];
        if (own->kind == EVENT_COUNTED && own->code.pmu == 0 && same_code(&own->code, event))
            return (int)i;
    }
    return -1;
}

static int socket_of(const struct topology *topology, int package) {
    for (size_t s = 0; s < topology->n_sockets; s++)
        if ((int)topology->sockets[s].id == package)
            return (int)s;
    return -1;
}

static double value_of(const struct snapshot *snapshot, size_t index) {
    return isnan(snapshot->values[index]) ? 0 : snapshot->values[index];
}

// Where level 1 cannot be measured, other metrics can; a CPU that is offline executes nothing.
static void add_seconds(const struct snapshot *snapshot, size_t scope, double cpus, struct pmu_joined_total *out) {
    static const bool missing[UNCOVERED_N] = {
        [UNCOVERED_STARVED] = true, [UNCOVERED_FAILED] = true, [UNCOVERED_YIELDED] = true, [UNCOVERED_GAP] = true};
    out->covered_seconds += value_of(snapshot, snapshot_covered(snapshot->layout, scope)) / cpus;
    for (int reason = 0; reason < UNCOVERED_N; reason++) {
        double seconds = value_of(snapshot, snapshot_uncovered(snapshot->layout, scope, (enum uncovered)reason)) / cpus;
        *(missing[reason] ? &out->uncovered_seconds : &out->covered_seconds) += seconds;
    }
}

static double cpus_of(const struct topology *topology, int package) {
    double cpus = 0;
    int socket = socket_of(topology, package);
    for (size_t i = 0; i < topology->n_cpus; i++)
        cpus += (int)topology->cpus[i].socket == socket;
    return cpus;
}

// The snapshot's part of a package whose CPUs are all measured; NULL: it has none.
static const struct topology *part_of(const struct shown_type *type, int package) {
    const struct topology *topology = type->view && type->snapshot ? type->snapshot->layout->topology : NULL;
    int socket = topology && !topology->boxes ? socket_of(topology, package) : -1;
    bool whole = socket >= 0 && topology->sockets[socket].excluded == 0 && topology->sockets[socket].isolated == 0;
    return whole ? topology : NULL;
}

bool uncore_cores_read(const void *context, int package, const struct pmu_event *event, struct pmu_joined_total *out) {
    const struct shown *newest = context;
    struct pmu_joined_total total = {0};
    double cpus = 0;
    for (size_t i = 0; newest && i < newest->n; i++)
        if (part_of(&newest->types[i], package))
            cpus += cpus_of(newest->types[i].snapshot->layout->topology, package);
    bool any = false;
    for (size_t i = 0; newest && i < newest->n; i++) {
        const struct topology *topology = part_of(&newest->types[i], package);
        const struct snapshot *snapshot = newest->types[i].snapshot;
        int place = topology ? place_of(snapshot->layout, event) : -1;
        if (place < 0)
            continue;
        size_t scope = snapshot_scope_socket((size_t)socket_of(topology, package));
        total.count += value_of(snapshot, snapshot_event(snapshot->layout, scope, (size_t)place));
        add_seconds(snapshot, scope, cpus, &total);
        any = true;
    }
    if (any)
        *out = total;
    return any;
}

// ---- whether they will ----

static bool needs(const struct catalog *catalog, const struct catalog_metric *metric, unsigned event) {
    bool found = false;
    for (size_t i = 0; i < metric->formula->n_variables && !found; i++)
        found = metric->formula->variables[i] == event;
    for (size_t i = 0; i < metric->formula->n_metrics && !found; i++)
        found = needs(catalog, &catalog->metrics[metric->formula->metrics[i]], event);
    return found;
}

// True if a selected metric group has a metric with the event.
static bool counts(const struct core_type *type, const char *name) {
    const struct catalog *catalog = type->source->catalog;
    int event = catalog_find_event(catalog, name);
    for (size_t s = 0; event >= 0 && s < type->n_selections; s++) {
        const struct catalog_group *group = &catalog->groups[type->selections[s].group];
        for (size_t m = 0; m < group->n_metrics; m++) {
            const struct catalog_metric *metric = &catalog->metrics[group->metrics[m]];
            if (!metric->unmeasurable && needs(catalog, metric, (unsigned)event))
                return true;
        }
    }
    return false;
}

const char *uncore_cores_obstacle(const struct setup *setup, const char *event, char text[UNCORE_CORES_TEXT_MAX]) {
    bool counted = false, whole = true;
    for (size_t i = 0; i < setup->n_types; i++) {
        const struct topology *topology = setup->types[i].topology;
        counted = counted || counts(&setup->types[i], event);
        for (size_t s = 0; s < topology->n_sockets; s++)
            whole = whole && topology->sockets[s].excluded == 0 && topology->sockets[s].isolated == 0;
    }
    if (!counted)
        (void)snprintf(text, UNCORE_CORES_TEXT_MAX,
                       "needs %.80s of the cores, which no selected metric group counts: select one that has it, such "
                       "as General, in `groups` of the profile",
                       event);
    else if (!whole)
        (void)snprintf(text, UNCORE_CORES_TEXT_MAX,
                       "needs %.80s of all cores of a socket, and some CPUs are isolated or not selected", event);
    return counted && whole ? NULL : text;
}
