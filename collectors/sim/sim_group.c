// SPDX-License-Identifier: Apache-2.0
#include "collectors/sim/sim_group.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { FIELD_MAX = 255 };

static bool is_code(const struct pmu_event *a, const struct pmu_event *b) {
    return a->pmu == b->pmu && a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2 &&
           a->exclude == b->exclude;
}

// Of several names for one code that with a fixed counter: the hardware knows the code alone.
static int find_event(const struct catalog *catalog, const struct pmu_event *code) {
    int found = -ENOENT;
    for (size_t i = CATALOG_CPU_SECONDS + 1; i < catalog->n_events; i++)
        if (is_code(&catalog->events[i].code, code) &&
            (found < 0 || (catalog->events[i].need.fixed >= 0 && catalog->events[found].need.fixed < 0)))
            found = (int)i;
    return found;
}

static bool is_field(const struct catalog *catalog, unsigned event) {
    const struct catalog_event *of = &catalog->events[event];
    return of->resident && of->need.free && of->code.pmu == 0 && event != catalog->resident[0];
}

static int group_fill(const struct catalog *catalog, const struct pmu_event *codes, struct sim_group *group) {
    bool fields = false;
    for (size_t i = 0; i < group->n_events; i++) {
        int event = find_event(catalog, &codes[i]);
        if (event < 0)
            return event;
        group->events[i] = (unsigned)event;
        group->needs[i] = catalog->events[event].need;
        group->is_field[i] = is_field(catalog, (unsigned)event);
        fields = fields || group->is_field[i];
    }
    return fields && group->events[0] != catalog->resident[0] ? -EINVAL : 0;
}

int sim_group_new(const struct catalog *catalog, const struct pmu_event *codes, size_t n, struct sim_group **out) {
    struct sim_group *group = calloc(1, sizeof *group);
    if (!group)
        return -ENOMEM;
    *group = (struct sim_group){.rank = SIM_FLEXIBLE, .n_events = n, .n_needs = n};
    group->needs = calloc(n, sizeof *group->needs);
    group->events = calloc(n, sizeof *group->events);
    group->counts = calloc(n, sizeof *group->counts);
    group->is_field = calloc(n, sizeof *group->is_field);
    group->looked_at = calloc(n, sizeof *group->looked_at);
    group->reported = calloc(n, sizeof *group->reported);
    int r = -ENOMEM;
    if (group->needs && group->events && group->counts && group->is_field && group->looked_at && group->reported)
        r = group_fill(catalog, codes, group);
    if (r < 0) {
        sim_group_free(group);
        return r;
    }
    *out = group;
    return 0;
}

struct sim_group *sim_group_free(struct sim_group *group) {
    if (group)
        sim_group_deinit(group);
    free(group);
    return NULL;
}

int sim_group_init_rival(struct sim_group *group, enum sim_rank rank, unsigned general, int fixed) {
    size_t n = general + (fixed >= 0);
    struct event_need *needs = calloc(n ? n : 1, sizeof *needs);
    if (!needs)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        needs[i].fixed = i < general ? -1 : fixed;
    *group = (struct sim_group){.rank = rank, .needs = needs, .n_needs = n};
    return 0;
}

void sim_group_deinit(struct sim_group *group) {
    free(group->reported);
    free(group->looked_at);
    free(group->is_field);
    free(group->counts);
    free(group->events);
    free(group->needs);
}

void sim_group_look(struct sim_group *group) {
    if (group->n_events == 0)
        return;
    double leader = (double)(group->counts[0].whole - group->looked_at[0]);
    for (size_t i = 0; i < group->n_events; i++) {
        double happened = (double)(group->counts[i].whole - group->looked_at[i]);
        if (group->is_field[i] && leader > 0)
            group->reported[i] +=
                (uint64_t)(leader * fmin(nearbyint(FIELD_MAX * happened / leader), FIELD_MAX) / FIELD_MAX);
        group->looked_at[i] = group->counts[i].whole;
    }
}

uint64_t sim_group_count(const struct sim_group *group, size_t i) {
    return group->is_field[i] ? group->reported[i] : group->counts[i].whole;
}
