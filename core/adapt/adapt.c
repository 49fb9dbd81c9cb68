// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/adapt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A node of the decision tree that leads to selected groups, and how it has been lately.
struct node {
    unsigned metric;
    const struct formula *threshold; // NULL: `limit`, in the scale of the formula
    double limit;
    size_t cause;
    bool *leads; // to each selection
    bool high;
    unsigned rounds_high, rounds_low; // in a row
    double value;                     // the last one that there was, as exported
};

struct adapt {
    const struct catalog *catalog;
    bool *raised; // each selection
    struct node *nodes;
    size_t n_nodes;
    double *values, *tried; // of the catalog's metrics, in the scale of their formulas
    bool changed;
    uint64_t changed_ns; // where `changed`
    struct adapt_report report;
};

// ---- the tree ----

static bool is_category(const struct catalog *catalog, unsigned metric, size_t *category) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++) {
        if (catalog->level1.categories[i].metric != metric)
            continue;
        *category = catalog->level1.categories[i].category;
        return true;
    }
    return false;
}

static size_t cause_of(const struct catalog *catalog, unsigned metric) {
    size_t cause = CATEGORY_N;
    int above = (int)metric;
    for (size_t steps = 0; above >= 0 && steps < catalog->n_metrics; steps++) {
        if (is_category(catalog, (unsigned)above, &cause))
            break;
        above = catalog->metrics[above].parent;
    }
    return cause;
}

static bool group_has(const struct catalog_group *group, unsigned metric) {
    for (size_t i = 0; i < group->n_metrics; i++)
        if (group->metrics[i] == metric)
            return true;
    return false;
}

static bool holds_level1(const struct catalog *catalog, unsigned group) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (group_has(&catalog->groups[group], catalog->level1.categories[i].metric))
            return true;
    return false;
}

// What comes next is a group or a metric of it. A name that is both is both.
static bool leads_to(const struct catalog *catalog, const char *next, unsigned group) {
    int metric = catalog_find_metric(catalog, next);
    return catalog_find_group(catalog, next) == (int)group ||
           (metric >= 0 && group_has(&catalog->groups[group], (unsigned)metric));
}

// What judges the node; false where nothing does.
static bool find_threshold(const struct catalog *catalog, const struct catalog_node *from, struct node *node) {
    const struct catalog_metric *metric = &catalog->metrics[from->metric];
    size_t category = CATEGORY_N;
    node->threshold = metric->threshold;
    if (node->threshold)
        return true;
    if (!is_category(catalog, from->metric, &category) && (!from->root || metric->domain == METRIC_OTHER))
        return false;
    node->limit = (category == CATEGORY_RETIRING ? ADAPT_HIGH_RETIRING : ADAPT_HIGH_SHARE) / metric->export_scale;
    return true;
}

// Appends a node unless it leads nowhere, or nothing says when it is high.
static int add_node(struct adapt *a, const struct catalog_node *from) {
    struct node *node = &a->nodes[a->n_nodes];
    bool any = false;
    *node = (struct node){.metric = from->metric, .cause = cause_of(a->catalog, from->metric), .value = NAN};
    if (!find_threshold(a->catalog, from, node))
        return 0;
    node->leads = calloc(a->report.n_groups + 1, sizeof *node->leads);
    if (!node->leads)
        return -ENOMEM;
    for (size_t s = 0; s < a->report.n_groups; s++)
        for (size_t i = 0; i < from->n_next && !holds_level1(a->catalog, a->report.groups[s].group); i++)
            any |= node->leads[s] |= leads_to(a->catalog, from->next[i], a->report.groups[s].group);
    if (any)
        a->n_nodes++;
    else
        free(node->leads);
    return 0;
}

// ---- what the values say ----

// 1 or 0, whether the node were high with all values so much larger; -1 where what is missing would decide.
static int tried_high(struct adapt *a, const struct node *node, double factor) {
    const struct formula *threshold = node->threshold;
    if (!threshold)
        return isnan(a->values[node->metric]) ? -1 : a->values[node->metric] * factor > node->limit;
    for (size_t m = 0; m < threshold->n_metrics; m++)
        a->tried[threshold->metrics[m]] = a->values[threshold->metrics[m]] * factor;
    double result = formula_evaluate_known(threshold, NULL, a->tried);
    return isnan(result) ? -1 : result != 0;
}

// Thresholds look for what is too small as well as for what is too large, so that both ways are tried.
static void judge(struct adapt *a, struct node *node) {
    int now = tried_high(a, node, 1), larger = tried_high(a, node, 1 / ADAPT_LOW_SHARE),
        smaller = tried_high(a, node, ADAPT_LOW_SHARE);
    if (now < 0 || larger < 0 || smaller < 0)
        return;
    if (!isnan(a->values[node->metric]))
        node->value = a->values[node->metric] * a->catalog->metrics[node->metric].export_scale;
    bool low = !now && !larger && !smaller;
    node->rounds_high = now ? node->rounds_high + 1 : 0;
    node->rounds_low = low ? node->rounds_low + 1 : 0;
    if (node->rounds_high >= ADAPT_ROUNDS_HIGH)
        node->high = true;
    else if (node->rounds_low >= ADAPT_ROUNDS_LOW)
        node->high = false;
}

static void take_values(struct adapt *a, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    for (size_t m = 0; m < a->catalog->n_metrics; m++)
        a->values[m] = NAN;
    for (size_t i = 0; i < layout->n_metrics; i++) {
        unsigned metric = layout->plan->metrics[i].metric;
        a->values[metric] = snapshot->values[snapshot_metric(layout, 0, i)] / a->catalog->metrics[metric].export_scale;
    }
}

// ---- decisions ----

// The first high node that leads to the selection, or NULL.
static const struct node *reason_for(const struct adapt *a, size_t selection) {
    for (size_t i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].high && a->nodes[i].leads[selection])
            return &a->nodes[i];
    return NULL;
}

static const struct node *node_of(const struct adapt *a, unsigned metric) {
    for (size_t i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].metric == metric)
            return &a->nodes[i];
    return NULL;
}

static void remember(struct adapt_report *report, const struct adapt_decision *decision) {
    if (report->n_decisions == ADAPT_DECISIONS_MAX)
        memmove(report->decisions, report->decisions + 1, --report->n_decisions * sizeof *report->decisions);
    report->decisions[report->n_decisions++] = *decision;
    if (report->n_new < ADAPT_DECISIONS_MAX)
        report->n_new++;
}

static void decide(struct adapt *a, size_t selection, const struct node *high, double now_seconds) {
    struct adapt_group *group = &a->report.groups[selection];
    const struct node *because = high ? high : node_of(a, group->metric);
    struct adapt_cause_count *count = &a->report.causes[because->cause];
    const struct adapt_decision decision = {.group = group->group,
                                            .metric = because->metric,
                                            .raised = high != NULL,
                                            .value = because->value,
                                            .at_seconds = now_seconds};
    *(high ? &count->high : &count->fell) += 1;
    a->raised[selection] = group->raised = high != NULL;
    group->metric = because->metric;
    group->value = because->value;
    group->since_seconds = now_seconds;
    remember(&a->report, &decision);
}

bool adapt_round(struct adapt *a, const struct snapshot *snapshot) {
    bool differs = false;
    take_values(a, snapshot);
    for (size_t i = 0; i < a->n_nodes; i++)
        judge(a, &a->nodes[i]);
    for (size_t s = 0; s < a->report.n_groups; s++)
        differs = differs || a->raised[s] != (reason_for(a, s) != NULL);
    if (!differs || (a->changed && snapshot->end_ns - a->changed_ns < ADAPT_CHANGE_NS))
        return false;
    a->changed = true;
    a->changed_ns = snapshot->end_ns;
    a->report.n_new = 0;
    for (size_t s = 0; s < a->report.n_groups; s++) {
        const struct node *high = reason_for(a, s);
        if (a->raised[s] != (high != NULL))
            decide(a, s, high, snapshot->values[snapshot_self(snapshot->layout, SELF_LAST_SNAPSHOT_TIMESTAMP)]);
    }
    return true;
}

// ---- making ----

static int fill(struct adapt *a, const struct plan_selection *selections, size_t n) {
    const struct catalog *catalog = a->catalog;
    a->raised = calloc(n + 1, sizeof *a->raised);
    a->report.groups = calloc(n + 1, sizeof *a->report.groups);
    a->nodes = calloc(catalog->n_nodes + 1, sizeof *a->nodes);
    a->values = calloc(catalog->n_metrics + 1, sizeof *a->values);
    a->tried = calloc(catalog->n_metrics + 1, sizeof *a->tried);
    if (!a->raised || !a->report.groups || !a->nodes || !a->values || !a->tried)
        return -ENOMEM;
    a->report.n_groups = n;
    for (size_t s = 0; s < n; s++) {
        a->report.groups[s] = (struct adapt_group){.group = selections[s].group, .value = NAN, .since_seconds = NAN};
    }
    int r = 0;
    for (size_t i = 0; i < catalog->n_nodes && r == 0; i++)
        r = add_node(a, &catalog->nodes[i]);
    return r;
}

int adapt_new(const struct catalog *catalog, const struct plan_selection *selections, size_t n, struct adapt **out) {
    struct adapt *a = calloc(1, sizeof *a);
    if (!a)
        return -ENOMEM;
    a->catalog = catalog;
    int r = fill(a, selections, n);
    if (r < 0)
        adapt_free(a);
    else
        *out = a;
    return r;
}

struct adapt *adapt_free(struct adapt *a) {
    if (a) {
        for (size_t i = 0; i < a->n_nodes; i++)
            free(a->nodes[i].leads);
        free(a->tried);
        free(a->values);
        free(a->nodes);
        free(a->report.groups);
        free(a->raised);
        free(a);
    }
    return NULL;
}

const bool *adapt_raised(const struct adapt *a) { return a->raised; }

// ---- telling ----

const struct adapt_report *adapt_report(const struct adapt *a) { return &a->report; }

struct adapt_report *adapt_report_copy(const struct adapt_report *report) {
    struct adapt_report *copy = malloc(sizeof *copy);
    struct adapt_group *groups = calloc(report->n_groups + 1, sizeof *groups);
    if (!copy || !groups) {
        free(groups);
        free(copy);
        return NULL;
    }
    *copy = *report;
    copy->groups = groups;
    if (report->n_groups > 0)
        memcpy(groups, report->groups, report->n_groups * sizeof *groups);
    return copy;
}

struct adapt_report *adapt_report_free(struct adapt_report *report) {
    if (report) {
        free(report->groups);
        free(report);
    }
    return NULL;
}

const char *adapt_cause_name(size_t cause) {
    return cause < CATEGORY_N ? category_name((enum category)cause) : "other";
}

bool adapt_cause_exists(const struct catalog *catalog, size_t cause) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if ((size_t)catalog->level1.categories[i].category == cause)
            return true;
    return cause == CATEGORY_N;
}

void adapt_decision_text(const struct catalog *catalog, const struct adapt_decision *decision, char *out, size_t size) {
    char value[32] = "";
    if (!isnan(decision->value))
        (void)snprintf(value, sizeof value, " (%.3g)", decision->value);
    (void)snprintf(out, size, "%.80s %s: %.80s %s%s", catalog->groups[decision->group].name,
                   decision->raised ? "is raised" : "is no longer raised",
                   catalog->metrics[decision->metric].export_name, decision->raised ? "is high" : "has fallen", value);
}

struct adapt_share adapt_share(const struct plan *plan, unsigned group) {
    struct adapt_share share = {0};
    bool common = false, rotating = false;
    for (unsigned u = 0; u < plan->n_units; u++) {
        bool held = false;
        for (size_t i = 0; i < plan->n_metrics && !held; i++)
            held = plan->metrics[i].unit == (int)u && group_has(&plan->catalog->groups[group], plan->metrics[i].metric);
        if (!held)
            continue;
        if (plan->common_unit == (int)u) {
            common = true;
            continue;
        }
        rotating = true;
        share.now += plan_share(plan, u);
        share.baseline += plan->units[u].baseline_share;
    }
    return common && !rotating ? (struct adapt_share){1, 1} : share;
}
