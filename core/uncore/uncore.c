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

bool uncore_box_same(const struct uncore_box *before, const struct uncore_box *now) {
    return strcmp(before->pmu, now->pmu) == 0 &&
           (before->cpu == now->cpu || uncore_place_same(&before->place, &now->place, before->part));
}

int uncore_box_reader(const struct uncore_box *box, const struct uncore_mask *mask) {
    for (size_t i = 0; i < mask->n; i++)
        if (mask->cpus[i] == box->cpu)
            return (int)box->cpu;
    if (box->part == UNCORE_PART_HOST && mask->n > 1) // the PMU has more boxes by now: this one is any of them
        return -1;
    for (size_t i = 0; i < mask->n; i++)
        if (uncore_place_same(&box->place, &mask->places[i], box->part))
            return (int)mask->cpus[i];
    return -1;
}

// The box among those that are left to be found; NULL: it is not among them. The one that the same CPU reads goes
// before one that is in the same part.
static struct uncore_box *find(const struct uncore_boxes *boxes, bool *taken, const struct uncore_box *before) {
    int found = -1;
    for (size_t i = 0; i < boxes->n; i++)
        if (!taken[i] && uncore_box_same(before, &boxes->boxes[i]) && (found < 0 || boxes->boxes[i].cpu == before->cpu))
            found = (int)i;
    if (found < 0)
        return NULL;
    taken[found] = true;
    return &boxes->boxes[found];
}

int uncore_boxes_continue(struct uncore_boxes *boxes, const struct uncore_boxes *before) {
    struct uncore_box *all = calloc(before->n + boxes->n + 1, sizeof *all);
    bool *taken = calloc(boxes->n + 1, sizeof *taken);
    size_t n = 0;
    if (!all || !taken) {
        free(all);
        free(taken);
        return -ENOMEM;
    }
    for (size_t i = 0; i < before->n; i++) {
        const struct uncore_box *now = find(boxes, taken, &before->boxes[i]);
        all[n] = now ? *now : before->boxes[i];
        all[n++].gone = !now;
    }
    for (size_t i = 0; i < boxes->n; i++)
        if (!taken[i])
            all[n++] = boxes->boxes[i];
    free(taken);
    free(boxes->boxes);
    *boxes = (struct uncore_boxes){all, n};
    return 0;
}

static int set_facts(const struct uncore_boxes *boxes, struct topology *topology) {
    struct topology_box *facts = calloc(boxes->n, sizeof *facts);
    if (!facts)
        return -ENOMEM;
    for (size_t i = 0; i < boxes->n; i++) {
        facts[i] = (struct topology_box){.cpu = (int)boxes->boxes[i].cpu, .node = boxes->boxes[i].place.node};
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
                                                    .package = boxes->boxes[i].place.package,
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
