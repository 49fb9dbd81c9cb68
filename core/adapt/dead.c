// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/dead.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/block.h"
#include "core/counts/zeros.h"

struct dead {
    const struct catalog *catalog;
    struct zeros *zeros;
    bool *watched; // [event]: of a metric with alternatives, or of one of these
    bool *dead;    // [event]
};

static void lay_out(void *self, struct block *block) {
    struct dead *dead = self;
    dead->watched = block_take(block, dead->catalog->n_events, sizeof *dead->watched);
    dead->dead = block_take(block, dead->catalog->n_events, sizeof *dead->dead);
}

static void watch(struct dead *dead, unsigned metric) {
    const struct formula *formula = dead->catalog->metrics[metric].formula;
    for (size_t v = 0; v < formula->n_variables; v++)
        if (dead->catalog->events[formula->variables[v]].kind == EVENT_COUNTED)
            dead->watched[formula->variables[v]] = true;
    for (size_t m = 0; m < formula->n_metrics; m++)
        watch(dead, formula->metrics[m]);
}

int dead_new(const struct catalog *catalog, struct dead **out) {
    struct dead *dead = block_new(&(struct dead){.catalog = catalog}, sizeof *dead, lay_out);
    if (dead)
        dead->zeros = zeros_new(catalog);
    if (!dead || !dead->zeros) {
        dead_free(dead);
        return -ENOMEM;
    }
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].alternative >= 0 || catalog->metrics[m].stands_for >= 0)
            watch(dead, m);
    *out = dead;
    return 0;
}

struct dead *dead_free(struct dead *dead) {
    if (dead)
        zeros_free(dead->zeros);
    free(dead);
    return NULL;
}

// True if one of the group's events has just been found dead.
static bool judge(struct dead *dead, const struct plan *plan, const struct plan_group *group) {
    bool found = false;
    for (size_t i = 0; i < group->n_events; i++) {
        unsigned event = group->events[i];
        if (!dead->watched[event] || dead->dead[event])
            continue;
        dead->dead[event] = zeros_dead(dead->zeros, plan->support, event);
        found = found || dead->dead[event];
    }
    return found;
}

bool dead_round(struct dead *dead, const struct plan *plan, const struct readings *readings) {
    bool found = false;
    for (size_t w = 0; w < readings->n_windows; w++) {
        const struct window *window = &readings->windows[w];
        const struct plan_group *group = &plan->groups[window->group];
        if (window->result == WINDOW_COMPLETE || window->result == WINDOW_CONTENDED)
            zeros_note(dead->zeros, group->events, window->counts, group->n_events);
    }
    zeros_judge(dead->zeros);
    for (size_t g = 0; g < plan->n_groups; g++)
        found = judge(dead, plan, &plan->groups[g]) || found;
    return found;
}

const bool *dead_events(const struct dead *dead) { return dead ? dead->dead : NULL; }
