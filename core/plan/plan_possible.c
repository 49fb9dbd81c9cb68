// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_possible.h"

static bool event_possible(const struct plan *plan, unsigned event) {
    enum plan_support support = (enum plan_support)plan->support[event];
    bool there = support == PLAN_SUPPORT_UNKNOWN || support == PLAN_SUPPORTED;
    return there && !plan->catalog->events[event].sampling_only && catalog_event_for_each_cpu(plan->catalog, event);
}

static bool is_split(const struct catalog_level1 *level1, unsigned metric) {
    for (size_t i = 0; level1->n_parts > 0 && i < level1->n_metrics; i++)
        if (level1->metrics[i] == metric)
            return true;
    return false;
}

// Topdown events have places of their own in each event group; level 1 may be split into several.
static bool fits(const struct plan *plan, unsigned metric) {
    const struct formula *formula = plan->catalog->metrics[metric].formula;
    unsigned events[PLAN_GROUP_EVENTS_MAX];
    size_t n = 0;
    for (size_t i = 0; i < formula->n_variables && n < PLAN_GROUP_EVENTS_MAX; i++) {
        const struct catalog_event *event = &plan->catalog->events[formula->variables[i]];
        if (event->kind == EVENT_COUNTED && !event->topdown)
            events[n++] = formula->variables[i];
    }
    return is_split(&plan->catalog->level1, metric) || fit_check(&plan->pmu, plan->needs, events, n, NULL);
}

static bool definition_possible(const struct plan *plan, unsigned metric) {
    const struct catalog_metric *of = &plan->catalog->metrics[metric];
    bool possible = !of->unmeasurable;
    for (size_t v = 0; v < of->formula->n_variables && possible; v++)
        possible = event_possible(plan, of->formula->variables[v]);
    for (size_t m = 0; m < of->formula->n_metrics && possible; m++)
        possible = plan_metric_possible(plan, of->formula->metrics[m]);
    return possible && fits(plan, metric);
}

// In the catalog a metric comes after those that it uses, so this ends.
bool plan_metric_possible(const struct plan *plan, unsigned metric) {
    int place = plan->place[metric];
    if (place >= 0)
        return plan_metric_planned(&plan->metrics[place]);
    for (int m = (int)metric; m >= 0; m = plan->catalog->metrics[m].alternative)
        if (definition_possible(plan, (unsigned)m))
            return true;
    return false;
}

bool plan_group_possible(const struct plan *plan, unsigned group) {
    const struct catalog_group *of = &plan->catalog->groups[group];
    for (size_t i = 0; i < of->n_metrics; i++)
        if (plan_metric_possible(plan, of->metrics[i]))
            return true;
    return false;
}
