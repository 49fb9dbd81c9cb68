// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_alternative.h"

static bool event_counts(const struct catalog *catalog, unsigned e, const uint8_t *support, const bool *dead) {
    const struct catalog_event *event = &catalog->events[e];
    if (event->kind != EVENT_COUNTED)
        return true;
    bool there = support[e] == PLAN_SUPPORT_UNKNOWN || support[e] == PLAN_SUPPORTED;
    return there && !event->known_dead && !event->sampling_only && !event->uncoded && !(dead && dead[e]);
}

// In the catalog a metric comes after those that it uses, so this ends.
static bool metric_counts(const struct catalog *catalog, unsigned metric, const uint8_t *support, const bool *dead) {
    const struct catalog_metric *of = &catalog->metrics[metric];
    bool counts = !of->unmeasurable;
    for (size_t v = 0; v < of->formula->n_variables && counts; v++)
        counts = event_counts(catalog, of->formula->variables[v], support, dead);
    for (size_t m = 0; m < of->formula->n_metrics && counts; m++)
        counts = metric_counts(catalog, of->formula->metrics[m], support, dead);
    return counts;
}

unsigned plan_alternative_choose(const struct catalog *catalog, unsigned metric, const uint8_t *support,
                                 const bool *dead) {
    for (int m = (int)metric; m >= 0 && catalog->metrics[metric].alternative >= 0; m = catalog->metrics[m].alternative)
        if (metric_counts(catalog, (unsigned)m, support, dead))
            return (unsigned)m;
    return metric;
}

void plan_alternative_place(struct plan *plan, unsigned index) {
    unsigned metric = plan->metrics[index].metric;
    plan->place[metric] = plan->place[catalog_metric_named(plan->catalog, metric)] = (int)index;
}
