// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_lead.h"

void plan_lead_set_aside(struct plan_draft *draft) {
    const struct catalog *catalog = draft->catalog;
    const struct plan *plan = draft->plan;
    unsigned events[CATALOG_TOPDOWN_MAX];
    size_t n = 0;
    for (size_t i = 0; i < catalog->n_topdown; i++)
        if (plan->support[catalog->topdown[i]] != PLAN_UNSUPPORTED)
            events[n++] = catalog->topdown[i];
    draft->pmu = plan->pmu;
    if (draft->request->apart)
        return; // nothing to share
    draft->led = n > 0 && events[0] == catalog->topdown[0] && fit_check(&plan->pmu, plan->needs, events, n, NULL);
    for (size_t i = 0; i < n && draft->led; i++) {
        const struct event_need *need = &plan->needs[events[i]];
        draft->pmu.fixed_taken |= fit_fixed(&plan->pmu, need);
        if (draft->pmu.general > 0)
            draft->pmu.reserved += fit_width(&plan->pmu, need);
    }
}

static bool formula_counts(const struct formula *formula, unsigned event) {
    for (size_t i = 0; i < formula->n_variables; i++)
        if (formula->variables[i] == event)
            return true;
    return false;
}

static bool level1_counts(const struct catalog *catalog, unsigned event) {
    const struct catalog_level1 *level1 = &catalog->level1;
    bool counts = level1->present && formula_counts(level1->pipeline_slots, event);
    for (size_t i = 0; i < level1->n_metrics && !counts; i++)
        counts = formula_counts(catalog->metrics[level1->metrics[i]].formula, event);
    return counts;
}

static bool set_has(const struct plan_draft *draft, const struct plan_set *set, unsigned event) {
    return draft->bit_of[event] >= 0 && plan_set_has(set, (size_t)draft->bit_of[event]);
}

// True for events that every group carries: those that cost no counter and serve all groups, and those of metrics
// without a group.
static bool is_carried(const struct plan_draft *draft, unsigned event) {
    const struct event_need *need = &draft->plan->needs[event];
    bool carried =
        event == draft->catalog->topdown[0] || need->fixed >= 0 || (need->free && level1_counts(draft->catalog, event));
    for (size_t i = 0; i < draft->n_items && !carried; i++)
        carried = draft->items[i].common && set_has(draft, &draft->items[i].set, event);
    return carried;
}

static bool is_needed(const struct plan_draft *draft, unsigned event) {
    bool needed = false;
    for (size_t i = 0; i < draft->n_items && !needed; i++)
        needed = set_has(draft, &draft->items[i].set, event);
    return needed;
}

static bool can_be_had(const struct plan *plan, unsigned event) {
    return plan->support[event] == PLAN_SUPPORT_UNKNOWN || plan->support[event] == PLAN_SUPPORTED;
}

void plan_lead_choose(struct plan_draft *draft) {
    const struct catalog *catalog = draft->catalog;
    bool needed = false;
    draft->n_carried = 0;
    for (size_t i = 0; i < catalog->n_topdown && draft->led; i++) {
        unsigned event = catalog->topdown[i];
        needed = needed || is_needed(draft, event);
        if (can_be_had(draft->plan, event) && is_carried(draft, event))
            draft->carried[draft->n_carried++] = event;
    }
    if (!needed)
        draft->n_carried = 0;
}

size_t plan_lead_begin(const struct plan_draft *draft, const struct plan_set *set, unsigned *events) {
    const struct catalog *catalog = draft->catalog;
    size_t n = 0, carried = 0;
    for (size_t i = 0; i < catalog->n_topdown && draft->led; i++) {
        unsigned event = catalog->topdown[i];
        bool of_all = carried < draft->n_carried && draft->carried[carried] == event;
        carried += of_all;
        if (of_all || set_has(draft, set, event))
            events[n++] = event;
    }
    return n;
}
