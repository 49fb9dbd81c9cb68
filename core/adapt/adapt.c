// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/adapt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/diagnosis/next.h"

// A node of the decision tree that leads to selected groups.
struct node {
    unsigned metric;
    size_t cause;
    bool *leads; // to each selection
};

struct adapt {
    const struct catalog *catalog;
    bool *raised; // each selection
    struct node *nodes;
    size_t n_nodes;
    bool changed;
    uint64_t changed_ns; // if `changed`
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

// Appends a node if it leads anywhere.
static int add_node(struct adapt *a, const struct catalog_node *from) {
    struct node *node = &a->nodes[a->n_nodes];
    bool any = false;
    *node = (struct node){.metric = from->metric, .cause = cause_of(a->catalog, from->metric)};
    node->leads = calloc(a->report.n_groups + 1, sizeof *node->leads);
    if (!node->leads)
        return -ENOMEM;
    for (size_t s = 0; s < a->report.n_groups; s++)
        any |= node->leads[s] = next_leads(a->catalog, from, a->report.groups[s].group);
    if (any)
        a->n_nodes++;
    else
        free(node->leads);
    return 0;
}

// ---- decisions ----

// The first high node that leads to the selection, or NULL.
static const struct node *reason_for(const struct adapt *a, const struct diagnosis *diagnosis, size_t selection) {
    for (size_t i = 0; i < a->n_nodes; i++)
        if (a->nodes[i].leads[selection] && diagnosis_high(diagnosis, a->nodes[i].metric))
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

// `high`: the node that raises the group; NULL: that node is no longer high.
static void decide(struct adapt *a, size_t selection, const struct node *high, const struct diagnosis *diagnosis,
                   double now_seconds) {
    struct adapt_group *group = &a->report.groups[selection];
    const struct node *because = high ? high : node_of(a, group->metric);
    struct adapt_cause_count *count = &a->report.causes[because->cause];
    const struct adapt_decision decision = {.group = group->group,
                                            .metric = because->metric,
                                            .raised = high != NULL,
                                            .value = diagnosis_value(diagnosis, because->metric),
                                            .at_seconds = now_seconds};
    *(high ? &count->high : &count->fell) += 1;
    a->raised[selection] = group->raised = high != NULL;
    group->metric = because->metric;
    group->value = decision.value;
    group->since_seconds = now_seconds;
    remember(&a->report, &decision);
}

bool adapt_round(struct adapt *a, const struct diagnosis *diagnosis, const struct snapshot *snapshot) {
    bool differs = false;
    for (size_t s = 0; s < a->report.n_groups; s++)
        differs = differs || a->raised[s] != (reason_for(a, diagnosis, s) != NULL);
    if (!differs || (a->changed && snapshot->end_ns - a->changed_ns < ADAPT_CHANGE_NS))
        return false;
    double now_seconds = snapshot->taken_seconds;
    a->changed = true;
    a->changed_ns = snapshot->end_ns;
    a->report.n_new = 0;
    for (size_t s = 0; s < a->report.n_groups; s++) {
        const struct node *high = reason_for(a, diagnosis, s);
        if (a->raised[s] != (high != NULL))
            decide(a, s, high, diagnosis, now_seconds);
    }
    return true;
}

// ---- making ----

static int fill(struct adapt *a, const struct plan_selection *selections, size_t n) {
    const struct catalog *catalog = a->catalog;
    a->raised = calloc(n + 1, sizeof *a->raised);
    a->report.groups = calloc(n + 1, sizeof *a->report.groups);
    a->nodes = calloc(catalog->n_nodes + 1, sizeof *a->nodes);
    if (!a->raised || !a->report.groups || !a->nodes)
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

static bool same_decision(struct adapt_decision *decision, const struct catalog *before,
                          const struct catalog *catalog) {
    int group = catalog_find_group(catalog, before->groups[decision->group].name);
    int metric = catalog_find_metric(catalog, before->metrics[decision->metric].name);
    if (group < 0 || metric < 0)
        return false;
    decision->group = (unsigned)group;
    decision->metric = (unsigned)metric;
    return true;
}

// A group stays raised if the node that raised it still leads to it.
static void continue_group(struct adapt *a, size_t selection, const struct adapt_group *old,
                           const struct catalog *before) {
    struct adapt_group *group = &a->report.groups[selection];
    int metric = old->raised ? catalog_find_metric(a->catalog, before->metrics[old->metric].name) : -1;
    const struct node *node = metric >= 0 ? node_of(a, (unsigned)metric) : NULL;
    if (!node || !node->leads[selection] ||
        strcmp(a->catalog->groups[group->group].name, before->groups[old->group].name) != 0)
        return;
    unsigned own = group->group;
    *group = *old;
    group->group = own;
    group->metric = node->metric;
    a->raised[selection] = true;
}

void adapt_continue(struct adapt *a, const struct adapt *old) {
    const struct catalog *before = old->catalog;
    a->changed = old->changed;
    a->changed_ns = old->changed_ns;
    memcpy(a->report.causes, old->report.causes, sizeof a->report.causes);
    for (size_t s = 0; s < a->report.n_groups; s++)
        for (size_t o = 0; o < old->report.n_groups; o++)
            continue_group(a, s, &old->report.groups[o], before);
    for (size_t i = 0; i < old->report.n_decisions; i++) {
        struct adapt_decision decision = old->report.decisions[i];
        if (same_decision(&decision, before, a->catalog))
            a->report.decisions[a->report.n_decisions++] = decision;
    }
}

void adapt_count_on(struct adapt *a, const struct adapt_cause_count counts[ADAPT_CAUSES_N]) {
    memcpy(a->report.causes, counts, sizeof a->report.causes);
}

struct adapt *adapt_free(struct adapt *a) {
    if (a) {
        for (size_t i = 0; i < a->n_nodes; i++)
            free(a->nodes[i].leads);
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
        if (plan->common_unit == (int)u || plan_unit_stands(plan, u)) {
            common = true;
            continue;
        }
        rotating = true;
        share.now += plan_share(plan, u);
        share.baseline += plan->units[u].baseline_share;
    }
    return common && !rotating ? (struct adapt_share){1, 1} : share;
}

bool adapt_gains(const struct plan *plan, unsigned group) {
    struct adapt_share share = adapt_share(plan, group);
    return share.now > share.baseline * (1 + 1e-9);
}
