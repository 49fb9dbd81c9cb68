// SPDX-License-Identifier: Apache-2.0
//
// What is measured, with what, and how much of the time.

#include <math.h>

#include "exporters/html/html_parts.h"

static void render_left_out(const struct topology *topology, struct text *out) {
    size_t excluded = 0, isolated = 0;
    for (size_t s = 0; s < topology->n_sockets; s++) {
        excluded += topology->sockets[s].excluded;
        isolated += topology->sockets[s].isolated;
    }
    if (isolated > 0)
        text_format(out, "%zu isolated, ", isolated);
    text_format(out, "%zu excluded\n", excluded);
}

static void render_cpus(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    const struct topology *topology = view->layout->topology;
    double offline = view_offline(view, snapshot);
    text_format(out, "<tr><th>CPUs<td>%zu measured on %zu socket%s, ", topology->n_cpus, topology->n_sockets,
                topology->n_sockets == 1 ? "" : "s");
    if (offline > 0)
        text_format(out, "%.0f of them offline in the last round, ", offline);
    render_left_out(topology, out);
}

static void render_counters(const struct view *view, struct text *out) {
    text_string(out, "<tr><th>PMU<td>");
    html_put(out, view->pmu);
    if (view->counters.total > 0)
        text_format(out, ", %u of %u counters usable", view->counters.usable, view->counters.total);
    text_string(out, "\n");
}

static void render_mode(const struct view *view, struct text *out) {
    if (!view->adapt)
        return;
    text_string(out, "; adaptive");
    bool any = false;
    for (size_t i = 0; i < view->adapt->n_groups; i++) {
        const struct adapt_group *group = &view->adapt->groups[i];
        if (!group->raised || !adapt_gains(view->layout->plan, group->group))
            continue;
        text_string(out, any ? ", " : ", raised: ");
        html_put(out, view->layout->catalog->groups[group->group].name);
        text_string(out, " (");
        html_put(out, view->layout->catalog->metrics[group->metric].export_name);
        text_string(out, " was high)");
        any = true;
    }
    text_string(out, any ? "" : ", nothing is raised");
}

static void render_rotation(const struct plan *plan, size_t n_groups, struct text *out) {
    text_format(out, "%zu event group%s, slots of ", n_groups, n_groups == 1 ? "" : "s");
    html_put_number(out, (double)plan->slot_ns / 1e6);
    text_string(out, " ms, a round takes ");
    html_put_number(out, (double)plan->round_ns / 1e9);
    text_string(out, " s, ");
    html_put_number(out, (double)plan->idle_ns / 1e6);
    text_string(out, " ms of it with no counter held");
}

static void render_schedule(const struct view *view, struct text *out) {
    const struct plan *plan = view->layout->plan;
    size_t rotating = plan_n_rotating(plan), standing = plan->n_groups - rotating;
    text_string(out, "<tr><th>Schedule<td>");
    if (standing > 0)
        text_format(out, "%zu event group%s always on, read every ", standing, standing == 1 ? "" : "s");
    if (standing > 0)
        html_put_number(out, (double)plan->round_ns / 1e9);
    if (standing > 0)
        text_string(out, rotating > 0 ? " s; " : " s");
    if (standing == 0 || rotating > 0)
        render_rotation(plan, rotating, out);
    render_mode(view, out);
    text_string(out, "\n");
}

static void render_coverage(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    double covered = snapshot->values[snapshot_covered(view->layout, 0)];
    if (!isfinite(covered))
        return;
    text_string(out, "<tr><th>Coverage<td>");
    html_put_number(out, covered);
    text_string(out, " CPU seconds; uncovered:");
    for (int reason = 0; reason < UNCOVERED_N; reason++) {
        double seconds = snapshot->values[snapshot_uncovered(view->layout, 0, (enum uncovered)reason)];
        text_format(out, "%s %s ", reason ? "," : "", uncovered_name((enum uncovered)reason));
        html_put_number(out, isfinite(seconds) ? seconds : 0);
        text_string(out, " s");
    }
    text_string(out, "\n");
}

void html_facts_render(const struct view *view, const struct snapshot *snapshot, struct text *out) {
    text_string(out, "<h2>What is measured</h2>\n<table>\n<tr><th>CPU<td>");
    html_put(out, view->cpu_vendor);
    text_string(out, " ");
    html_put(out, view->cpu_model);
    text_string(out, "\n");
    html_put_row(out, "Spec", view->layout->catalog->product.spec);
    render_cpus(view, snapshot, out);
    render_counters(view, out);
    html_put_row(out, "Profile", view->profile);
    render_schedule(view, out);
    text_format(out, "<tr><th>Snapshots<td>%llu\n", (unsigned long long)snapshot->sequence);
    render_coverage(view, snapshot, out);
    html_put_row(out, "Version", view->version);
    text_string(out, "</table>\n");
}
