// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/cause.h"

#include <math.h>
#include <string.h>

#define MOST 0.5 // of a bottleneck, or of the sum of what may explain it

static const struct verdict_cause NO_CAUSE = {.kind = CAUSE_NONE, .metric = -1, .share = NAN};

// ---- misses ----

static double value_of(const struct tree *tree, enum tree_evidence evidence) {
    int metric = tree->evidence[evidence];
    return metric >= 0 ? judge_value(tree->judge, (unsigned)metric) : (double)NAN;
}

// True if the tree itself tells: at least two metrics below the last one are measured. One alone, such as the cycles
// that certainly wait for memory, leaves open what the rest is.
static bool is_divided(const struct tree *tree, unsigned last) {
    size_t n = 0;
    for (size_t i = 0; i < tree->n; i++)
        n += tree->layout->catalog->metrics[tree->nodes[i].metric].parent == (int)last && !isnan(tree->nodes[i].value);
    return n >= 2;
}

// Shares of cycles that misses explain at most, by enum verdict_cause_kind. Each level has what the next one lacks.
static bool find_bounds(const struct tree *tree, double bounds[CAUSE_N]) {
    double per_cycle = value_of(tree, TREE_IPC) / 1000, l1 = value_of(tree, TREE_L1D_MPKI) * per_cycle,
           l2 = value_of(tree, TREE_L2_MPKI) * per_cycle, ll = value_of(tree, TREE_LL_MPKI) * per_cycle,
           walks = value_of(tree, TREE_DTLB_MPKI) * per_cycle;
    bounds[CAUSE_SECOND_LEVEL] = fmax(l1 - l2, 0) * CAUSE_CYCLES_SECOND_LEVEL;
    bounds[CAUSE_LAST_LEVEL] = fmax(l2 - ll, 0) * CAUSE_CYCLES_LAST_LEVEL;
    bounds[CAUSE_MEMORY] = ll * CAUSE_CYCLES_MEMORY;
    bounds[CAUSE_TRANSLATION] = isnan(walks) ? 0 : walks * CAUSE_CYCLES_WALK;
    return isfinite(l1 + l2 + ll);
}

static struct verdict_cause find_in_misses(const struct tree *tree, enum catalog_waits waits, double share) {
    double bounds[CAUSE_N], sum = 0;
    enum verdict_cause_kind largest = CAUSE_SECOND_LEVEL;
    if (!find_bounds(tree, bounds))
        return NO_CAUSE;
    for (enum verdict_cause_kind kind = CAUSE_SECOND_LEVEL; kind <= CAUSE_TRANSLATION; kind++) {
        sum += bounds[kind];
        largest = bounds[kind] > bounds[largest] ? kind : largest;
    }
    if (sum < MOST * share)
        return waits == WAITS_BACK_END ? (struct verdict_cause){CAUSE_EXECUTION, -1, share - sum} : NO_CAUSE;
    if (bounds[largest] < MOST * sum)
        return (struct verdict_cause){CAUSE_OPEN, -1, NAN};
    return (struct verdict_cause){largest, -1, fmin(bounds[largest], 1)};
}

// ---- shares ----

// True for what the tree itself judges, or what is level 1 of other CPUs: it divides no bottleneck of another root.
static bool is_of_tree(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->n_nodes; i++)
        if (catalog->nodes[i].metric == metric)
            return true;
    return catalog->metrics[metric].parent >= 0 ||
           strcmp(catalog->metrics[metric].export_name, CATALOG_FRONTEND_STALLED) == 0;
}

// Takes the metric if it explains the bottleneck better than what was found before.
static void consider(const struct tree *tree, unsigned metric, double share, struct verdict_cause *best) {
    const struct catalog *catalog = tree->layout->catalog;
    enum metric_domain domain = catalog->metrics[metric].domain;
    double value = judge_value(tree->judge, metric);
    if (!(value >= MOST * share) || (best->kind != CAUSE_NONE && value <= best->share) ||
        (domain != METRIC_CLOCKS && domain != METRIC_PIPELINE_SLOTS) || !catalog->metrics[metric].meaning[0])
        return;
    if (judge_high(tree->judge, metric) == JUDGE_YES && !is_of_tree(catalog, metric))
        *best = (struct verdict_cause){CAUSE_METRIC, (int)metric, value};
}

static struct verdict_cause find_in_shares(const struct tree *tree, unsigned last, double share) {
    const struct catalog *catalog = tree->layout->catalog;
    struct verdict_cause best = NO_CAUSE;
    for (size_t n = 0; n < catalog->n_nodes; n++) {
        const struct catalog_node *node = &catalog->nodes[n];
        for (size_t i = 0; node->metric == last && i < node->n_next; i++) {
            const struct catalog_step *step = &node->next[i];
            if (step->metric >= 0)
                consider(tree, (unsigned)step->metric, share, &best);
            for (size_t m = 0; step->group >= 0 && m < catalog->groups[step->group].n_metrics; m++)
                consider(tree, catalog->groups[step->group].metrics[m], share, &best);
        }
    }
    return best;
}

struct verdict_cause cause_find(const struct tree *tree, const struct verdict *verdict) {
    if (!verdict_high(verdict))
        return NO_CAUSE;
    unsigned last = verdict->path[verdict->n - 1];
    double share = judge_value(tree->judge, last);
    enum catalog_waits waits = tree->layout->catalog->metrics[last].waits;
    struct verdict_cause cause = NO_CAUSE;
    if (isnan(share))
        return cause;
    if ((waits == WAITS_BACK_END || waits == WAITS_MEMORY) && !is_divided(tree, last))
        cause = find_in_misses(tree, waits, share);
    return cause.kind == CAUSE_NONE ? find_in_shares(tree, last, share) : cause;
}
