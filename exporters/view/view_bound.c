// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_bound.h"

#include <stdio.h>

double view_bound_value(const struct snapshot *snapshot, size_t scope, unsigned metric) {
    const struct snapshot_layout *layout = snapshot->layout;
    return snapshot->values[snapshot_metric(layout, scope, (size_t)layout->plan->place[metric])];
}

void view_bound_share(const struct snapshot *snapshot, size_t scope, unsigned metric, struct text *out) {
    const struct catalog_metric *of = &snapshot->layout->catalog->metrics[metric];
    text_format(out, "%s, %.3g %% of %s", view_title(of), 100 * view_bound_value(snapshot, scope, metric),
                view_whole(of));
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

struct view_bound_reason view_bound_reason(const struct view *view, const struct verdict *verdict,
                                           const struct snapshot *snapshot, size_t scope) {
    struct view_bound_reason reason = {"no metric group that is measured here says what the CPUs are bound by"};
    if (verdict->missing >= 0)
        write_missing(view, snapshot, scope, (size_t)view->layout->plan->place[verdict->missing], &reason);
    return reason;
}

struct view_bound_reason view_bound_bottleneck_reason(const struct view *view, const struct snapshot *snapshot,
                                                      size_t scope, const struct bottleneck_row *row) {
    const struct catalog *catalog = view->layout->catalog;
    struct view_bound_reason reason;
    int place =
        row->missing >= 0 ? view->layout->plan->place[catalog_metric_here(catalog, (unsigned)row->missing)] : -1;
    const char *why = row->missing < 0 ? absent_text(ABSENT_UNDEFINED)
                      : place >= 0     ? view_absent_text(view, snapshot, scope, (size_t)place)
                      : catalog->metrics[row->missing].unmeasurable ? catalog->metrics[row->missing].unmeasurable
                                                                    : VIEW_NOT_SELECTED;
    if (row->missing >= 0)
        (void)snprintf(reason.text, sizeof reason.text, "needs %s: %s", catalog->metrics[row->missing].export_name,
                       why);
    else
        (void)snprintf(reason.text, sizeof reason.text, "%s", why);
    return reason;
}

void view_bound_text(const struct view *view, const struct verdict *verdict, const struct snapshot *snapshot,
                     size_t scope, struct text *out) {
    if (verdict->n == 0) {
        text_format(out, "Not known: %s.", view_bound_reason(view, verdict, snapshot, scope).text);
        return;
    }
    const struct catalog_metric *metrics = view->layout->catalog->metrics;
    const char *meaning = metrics[verdict->path[verdict->n - 1]].meaning;
    if (verdict->high != JUDGE_YES)
        text_string(out, "Nothing stands out. The largest share: ");
    else if (verdict->well)
        text_string(out, "Nothing stands out: this computes well. ");
    for (size_t i = 0; i < verdict->n; i++) {
        text_string(out, i > 0 ? "; in it " : "");
        view_bound_share(snapshot, scope, verdict->path[i], out);
    }
    if (verdict->high == JUDGE_YES) {
        text_string(out, ".");
        if (verdict->well && verdict->n == 1)
            text_string(out, " It is vector work.");
        else if (!view_bound_cause_text(snapshot, verdict, out))
            text_format(out, "%s%s", meaning[0] ? " " : "", meaning);
    } else if (verdict->high == JUDGE_NO)
        text_string(out, ". No share of the first level is above its threshold.");
    else
        text_string(out, ". Not every threshold of the first level could be judged.");
    if (verdict->close < 0)
        return;
    text_format(out, " %s cannot be told apart from ", view_title(&metrics[verdict->path[0]]));
    view_bound_share(snapshot, scope, (unsigned)verdict->close, out);
    text_string(out, ": their 95 % intervals overlap.");
}
