// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/sim_group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FIELD_MAX = 255, FIELDS_MAX = 8 };

// No CPU has this general counter: an event restricted to it runs on its fixed counter or not at all.
#define NO_GENERAL_COUNTER (UINT64_C(1) << (EVENT_COUNTERS_MAX - 1))

bool sim_group_same_code(const struct pmu_event *a, const struct pmu_event *b) {
    return a->pmu == b->pmu && a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
           a->exclude == b->exclude;
}

// Finds the event of a code. Of several names, the one with a fixed counter: the hardware knows only the code.
static int find_event(const struct catalog *catalog, const struct pmu_event *code) {
    int found = -ENOENT;
    for (size_t i = CATALOG_CPU_SECONDS + 1; i < catalog->n_events; i++)
        if (sim_group_same_code(&catalog->events[i].code, code) &&
            (found < 0 || (catalog->events[i].need.fixed >= 0 && catalog->events[found].need.fixed < 0)))
            found = (int)i;
    return found;
}

// ---- the kernel's rules for groups with fields of PERF_METRICS ----

// Compares the number alone, by which the kernel recognises a field and the leader of fields.
static bool has_config(const struct catalog *catalog, size_t i, const struct pmu_event *code) {
    const struct pmu_event *of = &catalog->events[catalog->topdown[i]].code;
    return code->pmu == 0 && of->config == code->config;
}

static bool is_leader(const struct catalog *catalog, const struct pmu_event *code) {
    return catalog->n_topdown > 0 && has_config(catalog, 0, code);
}

static bool is_field(const struct catalog *catalog, const struct pmu_event *code) {
    for (size_t i = 1; i < catalog->n_topdown; i++)
        if (catalog->events[catalog->topdown[i]].need.free && has_config(catalog, i, code))
            return true;
    return false;
}

static bool stands_before(const struct pmu_event *codes, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (codes[j].config == codes[i].config)
            return true;
    return false;
}

// True if the leader comes first, no field has further configuration or appears twice, and there are at most
// FIELDS_MAX. All must count in the same modes because FIXED_CTR3 is configured for one (the kernel does not check
// this, and counts would be wrong).
static bool fields_valid(const struct catalog *catalog, const struct pmu_event *codes, size_t n) {
    size_t fields = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_field(catalog, &codes[i]))
            continue;
        if (!is_leader(catalog, &codes[0]) || codes[i].exclude != codes[0].exclude || codes[i].config1 != 0 ||
            codes[i].config2 != 0 || stands_before(codes, i))
            return false;
        fields++;
    }
    return fields <= FIELDS_MAX;
}

// ---- making ----

static int group_fill(const struct catalog *catalog, const struct pmu_event *codes, struct sim_group *group) {
    if (!fields_valid(catalog, codes, group->n_events))
        return -EINVAL;
    for (size_t i = 0; i < group->n_events; i++) {
        int event = find_event(catalog, &codes[i]);
        if (event < 0)
            return event;
        group->events[i] = (unsigned)event;
        group->needs[i] = catalog->events[event].need;
        if (group->fields)
            group->fields[i].is_field = is_field(catalog, &codes[i]);
        if (is_leader(catalog, &codes[i]) && group->needs[i].fixed >= 0)
            group->needs[i].counters = NO_GENERAL_COUNTER;
    }
    return 0;
}

// One block of memory, because a large host has ten thousand groups.
static struct sim_group *group_make(size_t n, bool has_fields) {
    struct sim_group *group = NULL;
    size_t each = sizeof *group->needs + sizeof *group->counts + sizeof *group->events;
    group = calloc(1, sizeof *group + n * (each + (has_fields ? sizeof *group->fields : 0)));
    if (!group)
        return NULL;
    *group = (struct sim_group){.rank = SIM_FLEXIBLE, .n_events = n, .n_needs = n};
    group->needs = (struct event_need *)(group + 1);
    group->counts = (struct sim_count *)(group->needs + n);
    struct sim_field *fields = (struct sim_field *)(group->counts + n);
    group->fields = has_fields ? fields : NULL;
    group->events = (unsigned *)(fields + (has_fields ? n : 0));
    return group;
}

int sim_group_new(const struct catalog *catalog, const struct pmu_event *codes, size_t n, struct sim_group **out) {
    bool has_fields = false;
    for (size_t i = 0; i < n; i++)
        has_fields |= is_field(catalog, &codes[i]);
    struct sim_group *group = group_make(n, has_fields);
    int r = group ? group_fill(catalog, codes, group) : -ENOMEM;
    if (r < 0)
        free(group);
    else
        *out = group;
    return r;
}

struct sim_group *sim_group_free(struct sim_group *group) {
    free(group);
    return NULL;
}

int sim_group_init_rival(struct sim_group *group, enum sim_rank rank, unsigned general, int cycles, int slots) {
    size_t n = 0;
    struct event_need *needs = calloc(general + 2, sizeof *needs);
    if (!needs)
        return -ENOMEM;
    while (n < general)
        needs[n++] = (struct event_need){.fixed = -1};
    if (cycles >= 0)
        needs[n++] = (struct event_need){.fixed = cycles};
    if (slots >= 0)
        needs[n++] = (struct event_need){.fixed = slots, .counters = NO_GENERAL_COUNTER};
    *group = (struct sim_group){.rank = rank, .needs = needs, .n_needs = n};
    return 0;
}

void sim_group_deinit_rival(struct sim_group *group) { free(group->needs); }

void sim_group_look(struct sim_group *group) {
    if (!group->fields)
        return;
    double leader = (double)(group->counts[0].whole - group->fields[0].looked_at);
    for (size_t i = 0; i < group->n_events; i++) {
        struct sim_field *field = &group->fields[i];
        double happened = (double)(group->counts[i].whole - field->looked_at);
        if (field->is_field && leader > 0)
            field->reported +=
                (uint64_t)(leader * fmin(nearbyint(FIELD_MAX * happened / leader), FIELD_MAX) / FIELD_MAX);
        field->looked_at = group->counts[i].whole;
    }
}

void sim_group_jump(struct sim_group *group, int64_t by) {
    sim_group_look(group);
    for (size_t i = 0; i < group->n_events; i++) {
        group->counts[i].whole += (uint64_t)by;
        if (!group->fields)
            continue;
        group->fields[i].looked_at += (uint64_t)by;
        group->fields[i].reported += (uint64_t)by;
    }
}

uint64_t sim_group_count(const struct sim_group *group, size_t i) {
    return group->fields && group->fields[i].is_field ? group->fields[i].reported : group->counts[i].whole;
}
