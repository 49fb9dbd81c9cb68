// SPDX-License-Identifier: Apache-2.0
#include "core/tally/derive_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

// ---- making ----

static void lay_out(void *self, struct block *block) {
    struct derive_metrics *metrics = self;
    const struct plan *plan = metrics->plan;
    const struct catalog *catalog = plan->catalog;
    metrics->ratios = block_take(block, plan->n_metrics, sizeof *metrics->ratios);
    metrics->units = block_take(block, plan->n_units, sizeof *metrics->units);
    metrics->planned = block_take(block, plan->n_metrics, sizeof *metrics->planned);
    metrics->stalled = block_take(block, plan->n_metrics, sizeof *metrics->stalled);
    metrics->stalled_use = block_take(block, catalog->n_events, sizeof *metrics->stalled_use);
}

static const struct formula *formula_of(const struct plan *plan, size_t metric) {
    return plan->catalog->metrics[plan->metrics[metric].metric].formula;
}

// True if coverage is split over the metrics of this unit.
static bool unit_covers(const struct derive_metrics *metrics, int unit) {
    return unit < 0 || !metrics->rotated || !plan_unit_stands(metrics->plan, (unsigned)unit);
}

static void count_planned(struct derive_metrics *metrics) {
    const struct plan *plan = metrics->plan;
    metrics->n_planned = metrics->n_not_plannable = 0;
    for (size_t m = 0; m < plan->n_metrics; m++) {
        bool now = plan->metrics[m].unit >= 0;
        metrics->planned[m] = metrics->planned[m] || now;
        if (!metrics->planned[m] || !unit_covers(metrics, plan->metrics[m].unit))
            continue;
        metrics->n_planned++;
        metrics->n_not_plannable += !now;
    }
}

static void note_planned(struct derive_metrics *metrics) {
    size_t n_rotating = plan_n_rotating(metrics->plan);
    metrics->stands = n_rotating < metrics->plan->n_groups;
    metrics->rotated = metrics->rotated || n_rotating > 0;
    count_planned(metrics);
    if (metrics->n_planned > 0 || n_rotating > 0)
        return;
    metrics->rotated = false; // what rotated once is selected no longer: only what stands is there to cover
    count_planned(metrics);
}

static void find_ratios(struct derive_metrics *metrics, size_t unit, size_t *n) {
    const struct plan *plan = metrics->plan;
    struct derive_unit *of = &metrics->units[unit];
    of->first_ratio = *n;
    for (unsigned m = 0; m < plan->n_metrics; m++)
        if (plan->metrics[m].unit == (int)unit && formula_of(plan, m)->is_ratio)
            metrics->ratios[(*n)++] = m;
    of->n_ratios = *n - of->first_ratio;
}

struct derive_metrics *derive_metrics_new(const struct plan *plan, size_t n_cpus) {
    struct derive_metrics *made = block_new(&(struct derive_metrics){.plan = plan}, sizeof *made, lay_out);
    size_t n_ratios = 0;
    if (!made)
        return NULL;
    for (size_t u = 0; u < plan->n_units; u++)
        find_ratios(made, u, &n_ratios);
    note_planned(made);
    made->carries = carries_new(plan, n_cpus);
    made->zeros = zeros_new(plan->catalog);
    return made->carries && made->zeros ? made : derive_metrics_free(made);
}

struct derive_metrics *derive_metrics_free(struct derive_metrics *metrics) {
    if (metrics) {
        zeros_free(metrics->zeros);
        carries_free(metrics->carries);
    }
    free(metrics);
    return NULL;
}

void derive_metrics_continue(struct derive_metrics *metrics, const struct derive_metrics *old, const int *match) {
    zeros_continue(metrics->zeros, old->zeros);
    for (size_t m = 0; m < metrics->plan->n_metrics; m++)
        metrics->planned[m] = match[m] >= 0 && old->planned[match[m]];
    metrics->rotated = metrics->rotated || old->rotated;
    note_planned(metrics);
}

// ---- what counts ----

void derive_metrics_note_counts(struct derive_metrics *metrics, unsigned group, const uint64_t *counts) {
    const struct plan_group *of = &metrics->plan->groups[group];
    zeros_note(metrics->zeros, of->events, counts, of->n_events);
}

enum zero derive_metrics_zero(const struct derive_metrics *metrics, unsigned event) {
    return zeros_of(metrics->zeros, metrics->plan->support, event);
}

struct doubts {
    bool some_silent, some_filtered,
        some_counted; // an event's 0 is not true, for one reason or the other; one has counted
};

static void add_doubts(const struct derive_metrics *metrics, const struct formula *formula, struct doubts *doubts);

// A core's pipeline slots are made of what its threads count.
static void add_thread_doubts(const struct derive_metrics *metrics, struct doubts *doubts) {
    const struct catalog_level1 *level1 = &metrics->plan->catalog->level1;
    for (size_t i = 0; level1->per_thread && i < THREAD_SLOTS_N; i++)
        add_doubts(metrics, level1->thread[i], doubts);
}

static void add_doubts(const struct derive_metrics *metrics, const struct formula *formula, struct doubts *doubts) {
    for (size_t i = 0; i < formula->n_variables; i++) {
        unsigned event = formula->variables[i];
        enum catalog_event_kind kind = metrics->plan->catalog->events[event].kind;
        if (kind == EVENT_CORE_WIDE)
            continue; // not a counted event
        if (kind == EVENT_CORE_SLOTS)
            add_thread_doubts(metrics, doubts);
        else if (kind != EVENT_COUNTED || metrics->zeros->counted[event])
            doubts->some_counted = true;
        else {
            enum zero zero = derive_metrics_zero(metrics, event);
            doubts->some_silent = doubts->some_silent || zero == ZERO_SILENT;
            doubts->some_filtered = doubts->some_filtered || zero == ZERO_FILTERED;
            doubts->some_counted = doubts->some_counted || (zero == ZERO_SILENT && zeros_told(metrics->zeros, event));
        }
    }
}

// Of an event of the formula whose 0 is not true, while another one has counted.
static enum zero formula_stalled(const struct derive_metrics *metrics, const struct formula *formula) {
    struct doubts doubts = {false, false, false};
    add_doubts(metrics, formula, &doubts);
    return !doubts.some_counted   ? ZERO_TRUE
           : doubts.some_silent   ? ZERO_SILENT
           : doubts.some_filtered ? ZERO_FILTERED
                                  : ZERO_TRUE;
}

// Threads that never run together never take slots from one another: no contention is no doubt about level 1.
static bool level1_stalled(const struct derive_metrics *metrics) {
    const struct catalog *catalog = metrics->plan->catalog;
    bool stalled = formula_stalled(metrics, catalog->level1.pipeline_slots) != ZERO_TRUE;
    for (size_t i = 0; i < catalog->level1.n_metrics; i++)
        if ((int)catalog->level1.metrics[i] != catalog->level1.contention)
            stalled =
                stalled || formula_stalled(metrics, catalog->metrics[catalog->level1.metrics[i]].formula) != ZERO_TRUE;
    return stalled;
}

// An event that must count tells more than those that are doubted for its sake.
static enum zero metric_stalled(const struct derive_metrics *metrics, const struct formula *formula) {
    enum zero stalled = formula_stalled(metrics, formula);
    for (size_t i = 0; i < formula->n_metrics && stalled != ZERO_SILENT; i++) {
        enum zero part = (enum zero)metrics->stalled[metrics->plan->place[formula->metrics[i]]];
        stalled = part != ZERO_TRUE ? part : stalled;
    }
    return stalled;
}

static void note_stalled_use(struct derive_metrics *metrics, const struct formula *formula) {
    const struct catalog *catalog = metrics->plan->catalog;
    bool core_slots = false;
    for (size_t v = 0; v < formula->n_variables; v++) {
        metrics->stalled_use[formula->variables[v]] = true;
        core_slots = core_slots || catalog->events[formula->variables[v]].kind == EVENT_CORE_SLOTS;
    }
    for (size_t i = 0; core_slots && catalog->level1.per_thread && i < THREAD_SLOTS_N; i++)
        note_stalled_use(metrics, catalog->level1.thread[i]);
}

void derive_metrics_find_stalled(struct derive_metrics *metrics) {
    const struct plan *plan = metrics->plan;
    zeros_judge(metrics->zeros);
    memset(metrics->stalled, ZERO_TRUE, plan->n_metrics * sizeof *metrics->stalled);
    memset(metrics->stalled_use, 0, plan->catalog->n_events * sizeof *metrics->stalled_use);
    for (size_t u = 0; u < plan->n_units; u++)
        metrics->units[u].n_metrics = metrics->units[u].n_stalled = 0;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        unsigned m = plan->evaluation[i];
        const struct formula *formula = formula_of(plan, m);
        if (plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
            continue;
        metrics->stalled[m] = (uint8_t)metric_stalled(metrics, formula);
        if (metrics->stalled[m] != ZERO_TRUE)
            note_stalled_use(metrics, formula);
        if (plan->metrics[m].unit == PLAN_COMBINED || !unit_covers(metrics, plan->metrics[m].unit))
            continue;
        metrics->units[plan->metrics[m].unit].n_metrics++;
        metrics->units[plan->metrics[m].unit].n_stalled += metrics->stalled[m] != ZERO_TRUE;
    }
    metrics->level1_stalled = plan->level1_unit >= 0 && level1_stalled(metrics);
}

double derive_metrics_standing_part(const struct derive_metrics *metrics) {
    const struct plan *plan = metrics->plan;
    size_t n = 0;
    for (unsigned u = 0; u < plan->n_units; u++)
        n += plan_unit_stands(plan, u) ? metrics->units[u].n_metrics : 0;
    return metrics->n_planned > 0 ? (double)n / (double)metrics->n_planned : 0;
}
