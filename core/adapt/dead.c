// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/dead.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/block.h"

struct dead {
    const struct catalog *catalog;
    bool *watched;    // [event]: of a metric with alternatives, or of one of these
    bool *counted;    // [event]: has counted
    bool *dead;       // [event]
    uint64_t *beside; // [event]: largest counts beside it in windows in which it did not count, in sum
};

static void lay_out(void *self, struct block *block) {
    struct dead *dead = self;
    size_t n = dead->catalog->n_events;
    dead->beside = block_take(block, n, sizeof *dead->beside);
    dead->watched = block_take(block, n, sizeof *dead->watched);
    dead->counted = block_take(block, n, sizeof *dead->counted);
    dead->dead = block_take(block, n, sizeof *dead->dead);
}

static void watch(struct dead *dead, unsigned metric) {
    const struct formula *formula = dead->catalog->metrics[metric].formula;
    for (size_t v = 0; v < formula->n_variables; v++) {
        const struct catalog_event *event = &dead->catalog->events[formula->variables[v]];
        if (event->kind == EVENT_COUNTED && !event->may_be_zero)
            dead->watched[formula->variables[v]] = true;
    }
    for (size_t m = 0; m < formula->n_metrics; m++)
        watch(dead, formula->metrics[m]);
}

int dead_new(const struct catalog *catalog, struct dead **out) {
    *out = block_new(&(struct dead){.catalog = catalog}, sizeof **out, lay_out);
    if (!*out)
        return -ENOMEM;
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        if (catalog->metrics[m].alternative >= 0 || catalog->metrics[m].stands_for >= 0)
            watch(*out, m);
    return 0;
}

struct dead *dead_free(struct dead *dead) {
    free(dead);
    return NULL;
}

static uint64_t largest_count(const struct window *window, size_t n) {
    uint64_t largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = window->counts[i] > largest ? window->counts[i] : largest;
    return largest;
}

// True if the event has just been found dead. An event that the PMU states to count is believed.
static bool take_count(struct dead *dead, const struct plan *plan, unsigned event, uint64_t count, uint64_t beside) {
    if (!dead->watched[event] || dead->dead[event] || plan->support[event] == PLAN_SUPPORTED)
        return false;
    dead->counted[event] = dead->counted[event] || count > 0;
    dead->beside[event] += beside;
    dead->dead[event] = !dead->counted[event] && dead->beside[event] >= DEAD_BESIDE;
    return dead->dead[event];
}

bool dead_round(struct dead *dead, const struct plan *plan, const struct readings *readings) {
    bool found = false;
    for (size_t w = 0; w < readings->n_windows; w++) {
        const struct window *window = &readings->windows[w];
        const struct plan_group *group = &plan->groups[window->group];
        if (window->result != WINDOW_COMPLETE && window->result != WINDOW_CONTENDED)
            continue;
        uint64_t beside = largest_count(window, group->n_events);
        for (size_t i = 0; i < group->n_events; i++)
            found = take_count(dead, plan, group->events[i], window->counts[i], beside) || found;
    }
    return found;
}

const bool *dead_events(const struct dead *dead) { return dead ? dead->dead : NULL; }
