// SPDX-License-Identifier: Apache-2.0
#include "daemon/engine/verdict_log.h"

#include <stdio.h>

#include "daemon/base/log_event.h"
#include "exporters/view/view_next.h"
#include "exporters/view/view_sample.h"
#include "exporters/view/view_sockets.h"

enum { BOUND_NAME_MAX = 160 };

// The line of a log begins with the prefix. Without fields it is no event.
static void log_text(const char *prefix, const struct log_field *fields, struct text *text) {
    text_append(text, "", 1);
    if (!text->failed)
        log_event(fields ? LOG_EVENT_BOTTLENECK : LOG_EVENT_NONE, LOG_LEVEL_INFO, fields, "%s%s", prefix, text->data);
    text_free(text);
}

// For programs: the last metric of the path that is high, by its name in Prometheus, or none.
static void name_bound(const struct tree *tree, const struct bound *bound, char out[BOUND_NAME_MAX]) {
    const struct snapshot_layout *layout = tree->layout;
    (void)snprintf(out, BOUND_NAME_MAX, "none");
    if (bound->exceeded != JUDGE_YES)
        return;
    unsigned place = tree->nodes[bound->path[bound->n - 1]].metric;
    (void)snprintf(out, BOUND_NAME_MAX, "topdownd_%s",
                   layout->catalog->metrics[layout->plan->metrics[place].metric].export_name);
}

// Judges the sockets too, in a tree of its own.
static void log_answer(const struct shown *newest, const struct shown_type *type, double since_seconds,
                       const char *prefix) {
    const struct view *view = type->view;
    struct tree *tree = tree_new(view->layout);
    struct text text = {0};
    bool at_least = type->snapshot->values[snapshot_bound_at_least(view->layout, 0)] > 0;
    char since[VIEW_TIME_MAX], name[BOUND_NAME_MAX];
    if (!tree)
        return; // out of memory: the pages may still tell
    tree_evaluate(tree, type->snapshot, 0);
    struct bound bound = bound_find(tree);
    name_bound(tree, &bound, name);
    text_string(&text, view->core_type ? "what these cores are bound by: " : "what this host is bound by: ");
    (void)view_sockets_verdict(newest, type, tree, &bound, &text);
    if (view_time(since_seconds, since))
        text_format(&text, " %s %s.", at_least ? "At least since" : "Since", since);
    const struct log_field fields[] = {{"CORE_TYPE", view->core_type},
                                       {"BOUND", name},
                                       {"SINCE", view_time(since_seconds, since) ? since : NULL},
                                       {NULL, NULL}};
    log_text(prefix, fields, &text);
    tree_free(tree);
}

static void log_next(const struct view *view, unsigned metric, const char *prefix) {
    struct text text = {0};
    text_string(&text, "next, ");
    if (view_next_text(view, metric, &text))
        text_string(&text, "; ");
    text_string(&text, "find the code with: ");
    view_sample_command(view, metric, &text);
    log_text(prefix, NULL, &text);
}

void verdict_log_round(struct verdict_log *log, const struct diagnosis *diagnosis, const struct shown_type *type,
                       const char *prefix) {
    const struct snapshot *snapshot = type->snapshot;
    const struct tree *tree = diagnosis_tree(diagnosis);
    const struct snapshot_layout *layout = snapshot->layout;
    struct bound bound = bound_find(tree);
    double since_seconds = snapshot->values[snapshot_bound_since(layout, 0)];
    double lasted_seconds = snapshot->values[snapshot_self(layout, SELF_LAST_SNAPSHOT_TIMESTAMP)] - since_seconds;
    if (snapshot->within_round || bound.n == 0 || !(lasted_seconds >= VERDICT_LOG_LASTS_SECONDS)) // also NaN
        return;
    bool high = bound.exceeded == JUDGE_YES;
    int metric = high ? (int)tree->nodes[bound.path[bound.n - 1]].metric : -1;
    if (log->logged && log->metric == metric)
        return;
    log->logged = true;
    log->metric = metric;
    log_answer(log->newest, type, since_seconds, prefix);
    if (high)
        log_next(type->view, (unsigned)metric, prefix);
}
