// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_append.h"

#include <errno.h>
#include <stdlib.h>

#include "core/plan/plan_lead.h"

static int compare_unsigned(const void *a, const void *b) {
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

void plan_sort_events(unsigned *events, size_t n) { qsort(events, n, sizeof *events, compare_unsigned); }

// Writes the set's events to `events`, ascending; events that begin every group only if `led`.
static size_t write_events(const struct plan_draft *draft, const struct plan_set *set, bool led, unsigned *events) {
    size_t n = 0;
    for (size_t bit = 0; bit < draft->n_events; bit++)
        if (plan_set_has(set, bit) && (led || !plan_lead_has(draft, draft->event_of[bit])))
            events[n++] = draft->event_of[bit];
    plan_sort_events(events, n);
    return n;
}

int plan_append_group(struct plan_draft *draft, unsigned unit, const struct plan_set *set) {
    struct plan_group *group = &draft->plan->groups[draft->plan->n_groups];
    unsigned *events = calloc(CATALOG_TOPDOWN_MAX + draft->n_events, sizeof *events);
    if (!events)
        return -ENOMEM;
    size_t n = unit >= draft->first_standing ? 0 : plan_lead_begin(draft, set, events);
    n += write_events(draft, set, false, events + n);
    *group = (struct plan_group){.events = events, .n_events = n, .unit = unit};
    draft->plan->n_groups++;
    return n <= PLAN_GROUP_EVENTS_MAX ? 0 : -E2BIG;
}

int plan_append_unit(struct plan_draft *draft, const struct plan_set *set) {
    struct plan *plan = draft->plan;
    struct plan_unit *unit = &plan->units[plan->n_units];
    unsigned *events = calloc(draft->n_events + 1, sizeof *events);
    if (!events)
        return -ENOMEM;
    *unit = (struct plan_unit){.first_group = (unsigned)plan->n_groups, .events = events, .reference = -1};
    unit->n_events = write_events(draft, set, true, events);
    return (int)plan->n_units++;
}
