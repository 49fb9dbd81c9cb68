// SPDX-License-Identifier: Apache-2.0
#include "core/uncore/uncore.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)UNCORE_NAME_MAX == (int)TOPOLOGY_PMU_MAX, "a name is copied as it is");

void uncore_boxes_deinit(struct uncore_boxes *boxes) {
    free(boxes->boxes);
    *boxes = (struct uncore_boxes){0};
}

static int find(const struct uncore_boxes *boxes, const struct uncore_box *box) {
    for (size_t i = 0; i < boxes->n; i++)
        if (strcmp(boxes->boxes[i].pmu, box->pmu) == 0 && boxes->boxes[i].package == box->package)
            return (int)i;
    return -1;
}

int uncore_boxes_continue(struct uncore_boxes *boxes, const struct uncore_boxes *before) {
    struct uncore_box *all = calloc(before->n + boxes->n + 1, sizeof *all);
    size_t n = 0;
    if (!all)
        return -ENOMEM;
    for (size_t i = 0; i < before->n; i++) {
        int now = find(boxes, &before->boxes[i]);
        all[n] = now < 0 ? before->boxes[i] : boxes->boxes[now];
        all[n++].gone = now < 0;
    }
    for (size_t i = 0; i < boxes->n; i++)
        if (find(before, &boxes->boxes[i]) < 0)
            all[n++] = boxes->boxes[i];
    free(boxes->boxes);
    *boxes = (struct uncore_boxes){all, n};
    return 0;
}

static int set_facts(const struct uncore_boxes *boxes, struct topology *topology) {
    struct topology_box *facts = calloc(boxes->n, sizeof *facts);
    if (!facts)
        return -ENOMEM;
    for (size_t i = 0; i < boxes->n; i++) {
        facts[i] = (struct topology_box){.cpu = (int)boxes->boxes[i].cpu, .node = boxes->boxes[i].node};
        memcpy(facts[i].pmu, boxes->boxes[i].pmu, sizeof facts[i].pmu);
    }
    int r = topology_set_boxes(topology, facts, boxes->n);
    free(facts);
    return r;
}

// A box on a CPU of unknown socket counts for the first one, as the CPU does.
int uncore_topology(const struct uncore_boxes *boxes, struct topology **out) {
    struct topology_source *sources = boxes->n > 0 ? calloc(boxes->n, sizeof *sources) : NULL;
    if (!sources)
        return boxes->n > 0 ? -ENOMEM : -EINVAL;
    size_t n = 0;
    for (size_t i = 0; i < boxes->n; i++)
        if (!boxes->boxes[i].gone)
            sources[n++] = (struct topology_source){.id = (unsigned)i,
                                                    .core = (int)i,
                                                    .package = boxes->boxes[i].package,
                                                    .selected = !boxes->boxes[i].left_out};
    int r = topology_new(sources, n, 0, out);
    free(sources);
    if (r < 0)
        return r;
    (*out)->boxes = true;
    r = set_facts(boxes, *out);
    if (r < 0)
        *out = topology_free(*out);
    return r;
}

bool uncore_needs_cores(const struct catalog *catalog, const struct formula *formula) {
    bool needs = false;
    for (size_t i = 0; i < formula->n_variables && !needs; i++) {
        const struct catalog_event *event = &catalog->events[formula->variables[i]];
        needs = event->kind == EVENT_COUNTED && event->code.pmu > 0 && event->need.free;
    }
    for (size_t i = 0; i < formula->n_metrics && !needs; i++)
        needs = uncore_needs_cores(catalog, catalog->metrics[formula->metrics[i]].formula);
    return needs;
}

enum traffic uncore_traffic(const struct catalog *catalog, unsigned event, double *bytes) {
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        const struct catalog_metric *metric = &catalog->metrics[m];
        const struct formula_sum *sum = &metric->formula->numerator;
        double k;
        if (metric->traffic == TRAFFIC_NONE || !catalog_metric_ratio(metric, &k))
            continue;
        for (size_t t = 0; t < sum->n; t++)
            if (sum->terms[t].variable == event) {
                *bytes = k * sum->terms[t].coefficient;
                return metric->traffic;
            }
    }
    return TRAFFIC_NONE;
}
