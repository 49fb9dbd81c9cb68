// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/judge.h"

#include <math.h>
#include <stdlib.h>

// Arrays are indexed by catalog metric. Values are in the scale of the metrics' formulas, as thresholds read them.
struct judge {
    const struct catalog *catalog;
    double *limits;              // a metric without a threshold in the spec is high above its limit; NaN: not judged
    double *values, *low, *high; // values and the ends of their intervals; NaN: none
    double *scaled;              // for judge_high_scaled
};

// ---- what judges ----

// A root's limit as exported; NaN if the metric is not a root.
static double limit_of_root(const struct catalog *catalog, unsigned metric, bool begins) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return catalog->level1.categories[i].category == CATEGORY_RETIRING ? JUDGE_RETIRING : JUDGE_SHARE;
    return begins && catalog->metrics[metric].domain != METRIC_OTHER ? JUDGE_SHARE : NAN;
}

// Sets `limits` to 1 where the methodology or a tree of metrics begins, else to 0.
static void mark_roots(const struct catalog *catalog, double *limits) {
    for (size_t m = 0; m < catalog->n_metrics; m++)
        limits[m] = 0;
    for (size_t m = 0; m < catalog->n_metrics; m++) {
        int parent = catalog->metrics[m].parent;
        if (parent >= 0 && catalog->metrics[parent].parent < 0)
            limits[parent] = 1;
    }
    for (size_t i = 0; i < catalog->n_nodes; i++)
        if (catalog->nodes[i].root)
            limits[catalog->nodes[i].metric] = 1;
}

struct judge *judge_new(const struct catalog *catalog) {
    size_t n = catalog->n_metrics;
    struct judge *judge = calloc(1, sizeof *judge);
    double *arrays = malloc((5 * n + 1) * sizeof *arrays);
    if (!judge || !arrays) {
        free(arrays);
        free(judge);
        return NULL;
    }
    *judge = (struct judge){.catalog = catalog,
                            .limits = arrays,
                            .values = arrays + n,
                            .low = arrays + 2 * n,
                            .high = arrays + 3 * n,
                            .scaled = arrays + 4 * n};
    mark_roots(catalog, judge->limits);
    for (unsigned m = 0; m < n; m++)
        judge->limits[m] = limit_of_root(catalog, m, judge->limits[m] > 0) / catalog->metrics[m].export_scale;
    for (size_t i = n; i < 5 * n; i++)
        arrays[i] = NAN;
    return judge;
}

struct judge *judge_free(struct judge *judge) {
    if (judge) {
        free(judge->limits);
        free(judge);
    }
    return NULL;
}

bool judge_can(const struct judge *judge, unsigned metric) {
    return judge->catalog->metrics[metric].threshold || !isnan(judge->limits[metric]);
}

// ---- judging ----

void judge_take(struct judge *judge, const struct snapshot *snapshot, size_t scope) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t m = 0; m < judge->catalog->n_metrics; m++)
        judge->values[m] = judge->low[m] = judge->high[m] = NAN;
    for (size_t i = 0; i < layout->n_metrics; i++) {
        unsigned metric = catalog_metric_named(judge->catalog, layout->plan->metrics[i].metric);
        double scale = judge->catalog->metrics[metric].export_scale;
        judge->values[metric] = snapshot->values[snapshot_metric(layout, scope, i)] / scale;
        judge->low[metric] = snapshot->values[snapshot_low(layout, scope, i)] / scale;
        judge->high[metric] = snapshot->values[snapshot_high(layout, scope, i)] / scale;
    }
}

double judge_value(const struct judge *judge, unsigned metric) {
    return judge->values[metric] * judge->catalog->metrics[metric].export_scale;
}

static enum judge_answer evaluate(const struct judge *judge, unsigned metric, const double *values) {
    const struct formula *threshold = judge->catalog->metrics[metric].threshold;
    if (!threshold && (isnan(judge->limits[metric]) || isnan(values[metric])))
        return JUDGE_UNKNOWN;
    double high = threshold ? formula_evaluate_known(threshold, NULL, values) : values[metric] > judge->limits[metric];
    return isnan(high) ? JUDGE_UNKNOWN : high != 0 ? JUDGE_YES : JUDGE_NO;
}

enum judge_answer judge_high(const struct judge *judge, unsigned metric) {
    return evaluate(judge, metric, judge->values);
}

enum judge_answer judge_high_scaled(struct judge *judge, unsigned metric, double factor) {
    const struct formula *threshold = judge->catalog->metrics[metric].threshold;
    judge->scaled[metric] = judge->values[metric] * factor;
    for (size_t i = 0; threshold && i < threshold->n_metrics; i++)
        judge->scaled[threshold->metrics[i]] = judge->values[threshold->metrics[i]] * factor;
    return evaluate(judge, metric, judge->scaled);
}

enum judge_answer judge_high_at(struct judge *judge, unsigned metric, double value) {
    const struct formula *threshold = judge->catalog->metrics[metric].threshold;
    for (size_t i = 0; threshold && i < threshold->n_metrics; i++)
        judge->scaled[threshold->metrics[i]] = judge->values[threshold->metrics[i]];
    judge->scaled[metric] = value / judge->catalog->metrics[metric].export_scale;
    return evaluate(judge, metric, judge->scaled);
}

bool judge_says(const struct judge *judge, const struct formula *formula) {
    double says = formula_evaluate_known(formula, NULL, judge->values);
    return !isnan(says) && says != 0;
}

enum judge_answer judge_certain(const struct judge *judge, unsigned metric) {
    enum judge_answer now = judge_high(judge, metric);
    enum judge_answer low = now == JUDGE_UNKNOWN ? now : evaluate(judge, metric, judge->low);
    enum judge_answer high = low == JUDGE_UNKNOWN ? low : evaluate(judge, metric, judge->high);
    if (high == JUDGE_UNKNOWN)
        return JUDGE_UNKNOWN;
    return low == now && high == now ? JUDGE_YES : JUDGE_NO;
}
