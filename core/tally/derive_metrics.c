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
    metrics->counted = block_take(block, catalog->n_events, sizeof *metrics->counted);
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
    return made->carries ? made : derive_metrics_free(made);
}

struct derive_metrics *derive_metrics_free(struct derive_metrics *metrics) {
    if (metrics)
        carries_free(metrics->carries);
    free(metrics);
    return NULL;
}

void derive_metrics_continue(struct derive_metrics *metrics, const struct derive_metrics *old, const int *match) {
    const struct catalog *catalog = metrics->plan->catalog, *before = old->plan->catalog;
    for (size_t e = 0; e < catalog->n_events; e++) {
        int event = catalog == before ? (int)e : catalog_find_event(before, catalog->events[e].name);
        metrics->counted[e] = event >= 0 && old->counted[event];
    }
    for (size_t m = 0; m < metrics->plan->n_metrics; m++)
        metrics->planned[m] = match[m] >= 0 && old->planned[match[m]];
    metrics->rotated = metrics->rotated || old->rotated;
    note_planned(metrics);
}

// ---- what counts ----

void derive_metrics_note_counts(struct derive_metrics *metrics, unsigned group, const uint64_t *counts) {
    const struct plan_group *of = &metrics->plan->groups[group];
    const unsigned *events = of->events;
    bool *counted = metrics->counted;
    for (size_t i = 0, n = of->n_events; i < n; i++)
        if (counts[i] > 0)
            counted[events[i]] = true;
}

// True if a count of 0 means that the event never happened, not that the PMU may never count it.
static bool zero_is_true(const struct derive_metrics *metrics, unsigned event) {
    return metrics->plan->support[event] == PLAN_SUPPORTED || metrics->plan->catalog->events[event].may_be_zero;
}

bool derive_metrics_event_lives(const struct derive_metrics *metrics, unsigned event) {
    return metrics->counted[event] || zero_is_true(metrics, event);
}

struct doubts {
    bool some_doubtful, some_counted; // an event has never counted and may not exist; one has counted
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
        else if (kind != EVENT_COUNTED || metrics->counted[event])
            doubts->some_counted = true;
        else if (!zero_is_true(metrics, event))
            doubts->some_doubtful = true;
    }
}

// True if an event of the formula has never counted and may not exist, while another one has counted.
static bool formula_stalled(const struct derive_metrics *metrics, const struct formula *formula) {
    struct doubts doubts = {false, false};
    add_doubts(metrics, formula, &doubts);
    return doubts.some_doubtful && doubts.some_counted;
}

// Threads that never run together never take slots from one another: no contention is no doubt about level 1.
static bool level1_stalled(const struct derive_metrics *metrics) {
    const struct catalog *catalog = metrics->plan->catalog;
    bool stalled = formula_stalled(metrics, catalog->level1.pipeline_slots);
    for (size_t i = 0; i < catalog->level1.n_metrics; i++)
        if ((int)catalog->level1.metrics[i] != catalog->level1.contention)
            stalled = stalled || formula_stalled(metrics, catalog->metrics[catalog->level1.metrics[i]].formula);
    return stalled;
}

static bool metric_stalled(const struct derive_metrics *metrics, const struct formula *formula) {
    bool stalled = formula_stalled(metrics, formula);
    for (size_t i = 0; i < formula->n_metrics; i++)
        stalled = stalled || metrics->stalled[metrics->plan->place[formula->metrics[i]]];
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
    memset(metrics->stalled, 0, plan->n_metrics * sizeof *metrics->stalled);
    memset(metrics->stalled_use, 0, plan->catalog->n_events * sizeof *metrics->stalled_use);
    for (size_t u = 0; u < plan->n_units; u++)
        metrics->units[u].n_metrics = metrics->units[u].n_stalled = 0;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        unsigned m = plan->evaluation[i];
        const struct formula *formula = formula_of(plan, m);
        if (plan->metrics[m].unit == PLAN_NOT_PLANNABLE)
            continue;
        metrics->stalled[m] = metric_stalled(metrics, formula);
        if (metrics->stalled[m])
            note_stalled_use(metrics, formula);
        if (plan->metrics[m].unit == PLAN_COMBINED || !unit_covers(metrics, plan->metrics[m].unit))
            continue;
        metrics->units[plan->metrics[m].unit].n_metrics++;
        metrics->units[plan->metrics[m].unit].n_stalled += metrics->stalled[m];
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
