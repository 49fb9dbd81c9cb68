// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_marks.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/history/steps.h"

#define SAME_NS 1000000.0 // seconds since the epoch in a double have no digits for less

__attribute__((format(printf, 4, 5))) static void mark(const struct view_marks *marks, struct marks *out,
                                                       enum mark_kind kind, const char *format, ...) {
    char text[MARK_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    marks_add(out, (int64_t)marks->at_ns, kind, text);
}

static double decisions_of(const struct view *view) {
    double n = 0;
    for (size_t i = 0; view->adapt && i < ADAPT_CAUSES_N; i++)
        n += view->adapt->causes[i].high + view->adapt->causes[i].fell;
    return n;
}

static void notice_plan(struct view_marks *marks, const struct view *view, struct marks *out) {
    const struct view *before = marks->view;
    double decisions = decisions_of(view);
    if (view->config_hash != before->config_hash) {
        mark(marks, out, MARK_RELOAD, "another configuration, profile %s", view->profile);
    } else if (decisions > marks->decisions && view->adapt->n_decisions > 0) {
        char text[MARK_TEXT_MAX];
        adapt_decision_text(view->layout->catalog, &view->adapt->decisions[view->adapt->n_decisions - 1], text,
                            sizeof text);
        mark(marks, out, MARK_ADAPT, "%s", text);
    } else if (view->counters.usable != before->counters.usable) {
        mark(marks, out, MARK_PLAN, "%u counters of a CPU can be had instead of %u", view->counters.usable,
             before->counters.usable);
    } else if (view->layout->plan->n_groups != before->layout->plan->n_groups) {
        mark(marks, out, MARK_PLAN, "other event groups: %zu instead of %zu", view->layout->plan->n_groups,
             before->layout->plan->n_groups);
    } else if (view->layout->plan->slot_ns != before->layout->plan->slot_ns) {
        mark(marks, out, MARK_PLAN, "slots of %.4g ms instead of %.4g ms", (double)view->layout->plan->slot_ns * 1e-6,
             (double)before->layout->plan->slot_ns * 1e-6);
    }
    marks->decisions = decisions;
}

static bool is_yielded(const struct view *view, const struct snapshot *snapshot) {
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        if (snapshot->absent[snapshot_state(view->layout, 0, m)] == ABSENT_YIELDED)
            return true;
    return false;
}

static void notice_yield(struct view_marks *marks, const struct view *view, const struct snapshot *snapshot,
                         struct marks *out) {
    bool yielded = is_yielded(view, snapshot);
    if (yielded != marks->yielded)
        mark(marks, out, yielded ? MARK_YIELD : MARK_RESUME, "%s",
             yielded ? "the counters were handed over on request" : "the counters are back");
    marks->yielded = yielded;
}

static void notice_cpus(struct view_marks *marks, const struct view *view, const struct snapshot *snapshot,
                        struct marks *out) {
    double offline = view_offline(view, snapshot);
    if (!isfinite(offline))
        return;
    if (offline != marks->offline)
        mark(marks, out, MARK_CPUS, "%.0f CPU%s offline, %.0f before", offline, offline == 1 ? "" : "s",
             marks->offline);
    marks->offline = offline;
}

static void notice_time(struct view_marks *marks, const struct view *view, const struct snapshot *snapshot,
                        struct marks *out) {
    double wall = snapshot->taken_seconds, gap = snapshot->values[snapshot_uncovered(view->layout, 0, UNCOVERED_GAP)];
    if (gap > marks->gap_seconds)
        mark(marks, out, MARK_GAP, "nothing was measured for a while: %.*f CPU seconds",
             gap - marks->gap_seconds < 10 ? 2 : 0, gap - marks->gap_seconds);
    if (isfinite(gap))
        marks->gap_seconds = gap;
    if (!isfinite(wall))
        return;
    int64_t offset = (int64_t)(wall * 1e9) - (int64_t)snapshot->end_ns;
    if (marks->told_time && llabs(offset - marks->wall_offset_ns) > STEPS_CLOCK_NS)
        mark(marks, out, MARK_CLOCK, "the clock was set by %+.0f s", (double)(offset - marks->wall_offset_ns) * 1e-9);
    marks->told_time = true;
    marks->wall_offset_ns = offset;
}

// The same verdict in another catalog.
static int continue_verdict(int verdict, const struct catalog *before, const struct catalog *catalog) {
    if (verdict < 0 || before == catalog)
        return verdict;
    int metric = catalog_find_metric(catalog, before->metrics[verdict].name);
    return metric >= 0 ? metric : VERDICT_NOT_KNOWN;
}

// A verdict shows when it has lasted for some rounds; its mark has the time when it began.
static int64_t began_ns(const struct view_marks *marks, const struct snapshot *snapshot) {
    double at_ns = snapshot->verdicts[0].lasting.since.seconds * 1e9 - (double)marks->wall_offset_ns;
    return marks->told_time && at_ns > 0 && at_ns + SAME_NS < (double)marks->at_ns ? (int64_t)at_ns
                                                                                   : (int64_t)marks->at_ns;
}

// True if a verdict that goes on after a restart has its mark already, of the process before.
static bool is_marked(const struct marks *marks, int64_t at_ns, const char *text) {
    for (size_t i = marks_count(marks); i-- > 0;) {
        const struct mark *mark = marks_get(marks, i);
        if (mark->kind == MARK_VERDICT)
            return at_ns < mark->at_ns + STEPS_CLOCK_NS && strcmp(mark->text, text) == 0;
    }
    return false;
}

static void notice_verdict(struct view_marks *marks, const struct view *view, const struct snapshot *snapshot,
                           struct marks *out) {
    int verdict = snapshot->verdicts[0].lasting.metric;
    if (verdict == VERDICT_NOT_KNOWN || verdict == marks->verdict)
        return;
    const char *text =
        verdict == VERDICT_NOTHING_HIGH ? "nothing stands out" : view_title(&view->layout->catalog->metrics[verdict]);
    int64_t at_ns = began_ns(marks, snapshot);
    if (!is_marked(out, at_ns, text))
        marks_add(out, at_ns, MARK_VERDICT, text);
    marks->verdict = verdict;
}

void view_marks_take(struct view_marks *marks, struct view *view, const struct snapshot *snapshot, struct marks *out) {
    if (snapshot->end_ns == 0 && !marks->view)
        return; // nothing has been measured yet
    if (snapshot->end_ns > 0)
        marks->at_ns = snapshot->end_ns;
    if (!marks->view) {
        *marks = (struct view_marks){.view = view_ref(view),
                                     .at_ns = snapshot->end_ns,
                                     .decisions = decisions_of(view),
                                     .verdict = VERDICT_NOT_KNOWN};
        mark(marks, out, MARK_START, "topdownd %s began", view->version);
    } else if (marks->view != view) {
        notice_plan(marks, view, out);
        marks->verdict = continue_verdict(marks->verdict, marks->view->layout->catalog, view->layout->catalog);
        view_unref(marks->view);
        marks->view = view_ref(view);
    }
    if (snapshot->end_ns > 0)
        notice_time(marks, view, snapshot, out);
    notice_cpus(marks, view, snapshot, out);
    notice_yield(marks, view, snapshot, out);
    notice_verdict(marks, view, snapshot, out);
}

void view_marks_deinit(struct view_marks *marks) { marks->view = view_unref(marks->view); }
