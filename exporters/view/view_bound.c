// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

#include <stdio.h>

void view_bound_share(const struct tree *tree, size_t node, struct text *out) {
    const struct catalog_metric *metric = &tree->layout->catalog->metrics[tree->nodes[node].metric];
    text_format(out, "%s, %.3g %% of %s", view_title(metric), 100 * tree->nodes[node].value, view_whole(metric));
}

static bool reads(const struct catalog *catalog, const struct formula *formula, unsigned event) {
    for (size_t v = 0; v < formula->n_variables; v++)
        if (formula->variables[v] == event)
            return true;
    for (size_t m = 0; m < formula->n_metrics; m++)
        if (reads(catalog, catalog->metrics[formula->metrics[m]].formula, event))
            return true;
    return false;
}

// Why the metric that the answer begins with has no value.
static void write_missing(const struct view *view, const struct snapshot *snapshot, size_t scope, size_t metric,
                          struct view_bound_reason *reason) {
    const struct snapshot_layout *layout = view->layout;
    const struct catalog_metric *missing = view_metric(view, metric);
    enum absent absent =
        view_plannable(view, metric) ? snapshot->absent[snapshot_state(layout, scope, metric)] : ABSENT_NOT;
    if (absent == ABSENT_UNDEFINED && missing->domain == METRIC_PIPELINE_SLOTS) {
        (void)snprintf(reason->text, sizeof reason->text, "nothing was done: no pipeline slots were counted");
        return;
    }
    const char *event = NULL;
    size_t n = 0;
    enum event_trouble state = absent == ABSENT_FILTERED ? EVENT_FILTERED : EVENT_STALLED;
    for (size_t e = 0; e < layout->n_events && (absent == ABSENT_STALLED || absent == ABSENT_FILTERED); e++)
        if (view_trouble(view, snapshot, e) == state && reads(layout->catalog, missing->formula, layout->events[e]) &&
            n++ == 0)
            event = layout->catalog->events[layout->events[e]].name;
    if (event && state == EVENT_FILTERED)
        (void)snprintf(reason->text, sizeof reason->text,
                       "it needs %.100s%s, which %s never counted, as others that must: something filters events here, "
                       "such as the hypervisor",
                       event, n > 1 ? " and others" : "", n > 1 ? "have" : "has");
    else if (event)
        (void)snprintf(reason->text, sizeof reason->text,
                       "it needs %.100s%s, which %s and %s never counted: this CPU, or its hypervisor, may lack %s",
                       event, n > 1 ? " and others" : "", n > 1 ? "run" : "runs", n > 1 ? "have" : "has",
                       n > 1 ? "them" : "it");
    else
        (void)snprintf(reason->text, sizeof reason->text, "%s", view_absent_text(view, snapshot, scope, metric));
}

struct view_bound_reason view_bound_reason(const struct view *view, const struct bound *bound,
                                           const struct snapshot *snapshot, size_t scope) {
    struct view_bound_reason reason = {"no metric group that is measured here says what the CPUs are bound by"};
    if (bound->missing >= 0)
        write_missing(view, snapshot, scope, (size_t)bound->missing, &reason);
    return reason;
}

void view_bound_text(const struct view *view, const struct tree *tree, const struct bound *bound,
                     const struct snapshot *snapshot, size_t scope, struct text *out) {
    if (bound->n == 0) {
        text_format(out, "Not known: %s.", view_bound_reason(view, bound, snapshot, scope).text);
        return;
    }
    const struct tree_node *last = &tree->nodes[bound->path[bound->n - 1]];
    const char *meaning = tree->layout->catalog->metrics[last->metric].meaning;
    if (bound->exceeded != JUDGE_YES)
        text_string(out, "Nothing stands out. The largest share: ");
    for (size_t i = 0; i < bound->n; i++) {
        text_string(out, i > 0 ? "; in it " : "");
        view_bound_share(tree, bound->path[i], out);
    }
    if (bound->exceeded == JUDGE_YES)
        text_format(out, ".%s%s", meaning[0] ? " " : "", meaning);
    else if (bound->exceeded == JUDGE_NO)
        text_string(out, ". No share of the first level is above its threshold.");
    else
        text_string(out, ". Not every threshold of the first level could be judged.");
    if (bound->close == tree->n)
        return;
    const struct tree_node *first = &tree->nodes[bound->path[0]];
    text_format(out, " %s cannot be told apart from ", view_title(&tree->layout->catalog->metrics[first->metric]));
    view_bound_share(tree, bound->close, out);
    text_string(out, ": their 95 % intervals overlap.");
}
