// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "bench/accuracy/trial_state.h"

// The adaptive schedule as in the daemon: each round's gauges go to core/diagnosis. When other metric groups are
// raised, there is a new plan, and intervals start anew.

static bool same_events(const struct plan *a, const struct plan *b) {
    bool same = a->n_units == b->n_units;
    for (size_t u = 0; u < a->n_units && same; u++)
        same = a->units[u].n_events == b->units[u].n_events;
    return same;
}

// Plans with the currently raised groups. The event groups stay the same; only their slots differ.
static void use_raised(struct trial *t) {
    struct plan_request request = *t->setting->adaptive;
    struct plan *plan;
    request.raised = adapt_raised(t->adapt);
    request.adaptive = true;
    if (plan_new(&request, &plan) < 0)
        abort();
    struct snapshot_layout *layout = snapshot_layout_new(plan, trial_topology(t->n_cpus));
    if (!layout || !same_events(plan, t->plan))
        abort();
    struct diagnosis *diagnosis = diagnosis_new(layout);
    if (!diagnosis)
        abort();
    if (t->diagnosis)
        diagnosis_continue(diagnosis, t->diagnosis);
    diagnosis_free(t->diagnosis);
    t->diagnosis = diagnosis;
    snapshot_layout_unref(t->layout);
    t->layout = layout;
    t->plan = plan;
}

static void note_raised(const struct trial *t, bool *raised) {
    const struct adapt_report *report = adapt_report(t->adapt);
    for (size_t i = 0; i < report->n_groups; i++) {
        const struct catalog_group *group = &t->plan->catalog->groups[report->groups[i].group];
        for (size_t k = 0; report->groups[i].raised && k < group->n_metrics; k++)
            for (size_t m = 0; m < t->plan->n_metrics; m++)
                raised[m] = raised[m] || t->plan->metrics[m].metric == group->metrics[k];
    }
}

void trial_adapt_begin(struct trial *t) {
    const struct plan_request *request = t->setting->adaptive;
    if (adapt_new(t->plan->catalog, request->selections, request->n_selections, &t->adapt) < 0)
        abort();
    use_raised(t);
}

bool trial_adapt_round(struct trial *t, struct snapshot *snapshot) {
    diagnosis_round(t->diagnosis, snapshot);
    return adapt_round(t->adapt, t->diagnosis, snapshot);
}

void trial_adapt_change(struct trial *t, struct outcome *outcome) {
    outcome->changes++;
    use_raised(t);
    note_raised(t, outcome->raised);
}
