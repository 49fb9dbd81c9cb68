// SPDX-License-Identifier: Apache-2.0
//
// The event groups: how much of the time each counts, what became of its windows, and how far to trust its metrics.

#include <math.h>

#include "exporters/html/html_parts.h"

// How often the group's windows were on the counters for as long as they were meant to be.
static void put_coverage(const struct snapshot *snapshot, size_t group, struct text *out) {
    const struct snapshot_layout *layout = snapshot->layout;
    double windows[WINDOW_RESULT_N], all = 0;
    for (int result = 0; result < WINDOW_RESULT_N; result++) {
        windows[result] = snapshot->values[snapshot_windows(layout, group, (enum window_result)result)];
        all += isfinite(windows[result]) ? windows[result] : 0;
    }
    if (!(all > 0)) {
        text_string(out, "no window yet");
        return;
    }
    text_format(out, "%.4g %% of %.0f windows complete", 100 * windows[WINDOW_COMPLETE] / all, all);
    for (int result = 0; result < WINDOW_RESULT_N; result++)
        if (result != WINDOW_COMPLETE && windows[result] > 0)
            text_format(out, ", %.0f %s", windows[result], window_result_name((enum window_result)result));
}

// How many of the unit's metrics are how certain in the last round, and which these metrics are.
static void put_metrics(const struct view *view, const struct snapshot *snapshot, int unit, struct text *out) {
    static const enum estimate_quality order[] = {ESTIMATE_GOOD, ESTIMATE_FAIR, ESTIMATE_POOR, ESTIMATE_NONE};
    size_t n[ESTIMATE_QUALITY_N] = {0}, all = 0;
    const struct plan_metric *metrics = view->layout->plan->metrics;
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        if (view_exported(view, m) && metrics[m].unit == unit) {
            n[snapshot->quality[snapshot_state(view->layout, 0, m)]]++;
            all++;
        }
    text_string(out, all == 0 ? "<td>only for other metrics" : "<td>");
    for (size_t i = 0, any = 0; i < ESTIMATE_QUALITY_N; i++)
        if (n[order[i]] > 0)
            text_format(out, "%s%zu %s", any++ > 0 ? ", " : "", n[order[i]],
                        order[i] == ESTIMATE_NONE ? "without an interval" : estimate_quality_name(order[i]));
    text_string(out, "<td class=\"soft\">");
    for (size_t m = 0, any = 0; m < view->layout->n_metrics; m++)
        if (view_exported(view, m) && metrics[m].unit == unit) {
            text_string(out, any++ > 0 ? ", " : "");
            html_put(out, view_metric(view, m)->export_name);
        }
    text_string(out, "\n");
}

static void put_share(double share, struct text *out) {
    text_format(out, "<td data-name=\"share of time\" class=\"n\">%.3g %%", 100 * share);
}

static void put_group(const struct view *view, const struct snapshot *snapshot, size_t group, struct text *out) {
    const struct plan *plan = view->layout->plan;
    const struct plan_unit *unit = &plan->units[plan->groups[group].unit];
    text_string(out, "<tr><td>");
    html_put(out, plan->groups[group].name);
    if (plan_group_stands(plan, (unsigned)group))
        text_string(out, "<td data-name=\"share of time\" class=\"n\">always on");
    else
        put_share((double)(unit->slots * plan->slot_ns) / (double)plan->round_ns, out);
    text_string(out, "<td>");
    put_coverage(snapshot, group, out);
    put_metrics(view, snapshot, (int)plan->groups[group].unit, out);
}

// Metrics without an event group of their own: events that every group carries, and values of other metrics.
static void put_others(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct plan *plan = view->layout->plan;
    bool combined = false;
    for (size_t m = 0; m < view->layout->n_metrics; m++)
        combined = combined || (view_exported(view, m) && plan->metrics[m].unit == PLAN_COMBINED);
    if (plan_carried_unit(plan) >= 0) {
        text_string(out, "<tr><td>each that rotates");
        put_share(1 - plan_idle_share(plan), out);
        text_string(out, "<td>as above");
        put_metrics(view, snapshot, plan_carried_unit(plan), out);
    }
    if (combined) {
        text_string(out, "<tr><td>none<td><td>computed from other metrics");
        put_metrics(view, snapshot, PLAN_COMBINED, out);
    }
}

void html_schedule_render(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct plan *plan = view->layout->plan;
    if (plan->n_groups == 0)
        return;
    text_string(out, "<h2>Event groups and their time</h2>\n<div class=\"wide\"><table class=\"cells\">\n"
                     "<tr><th>Event group<th class=\"n\">Share of time<th>Coverage since the start"
                     "<th>Trust in its metrics<th>Metrics\n");
    for (size_t g = 0; g < plan->n_groups; g++)
        put_group(view, snapshot, g, out);
    put_others(view, snapshot, out);
    if (plan_idle_share(plan) > 0) {
        text_string(out, "<tr><td>none");
        put_share(plan_idle_share(plan), out);
        text_string(out, "<td>no counter is held, so that others can count<td><td>\n");
    }
    text_string(out,
                "</table></div>\n<p class=\"soft\">Trust in the values of the last round, by half the width of their "
                "95 % interval. good: at most 1 point of a share, or 5 % of the value; fair: 3 points or 20 %; "
                "poor: more.\n");
}
