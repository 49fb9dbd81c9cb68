// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_select.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_alternative.h"
#include "core/plan/plan_fit.h"
#include "core/plan/plan_standing.h"
#include "core/spec/opportunity.h"

__attribute__((format(printf, 2, 3))) static void select_refuse(struct plan_metric *metric, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(metric->reason, sizeof metric->reason, format, arguments);
    va_end(arguments);
}

// ---- sets of events ----

static int add_formula(struct plan_draft *draft, struct plan_set *set, const struct formula *formula) {
    int r = 0;
    for (size_t i = 0; i < formula->n_variables && r == 0; i++)
        r = plan_draft_add(draft, set, formula->variables[i]);
    return r;
}

static bool set_empty(const struct plan_set *set) {
    static const struct plan_set empty;
    return memcmp(set, &empty, sizeof empty) == 0;
}

// True if every event group carries the set: its metrics cost no counter.
static bool set_common(const struct plan_draft *draft, const struct plan_set *set) {
    for (size_t bit = 0; bit < draft->n_events; bit++)
        if (plan_set_has(set, bit) && !draft->catalog->events[draft->event_of[bit]].topdown)
            return false;
    return draft->led;
}

// True if no event of the set needs a counter or a register that others share. A field of PERF_METRICS needs its
// leader's counter. Of boxes all stands.
static bool set_stands(const struct plan_draft *draft, const struct plan_set *set) {
    bool stands = !draft->request->apart;
    for (size_t bit = 0; bit < draft->n_events && stands && !draft->request->boxes; bit++) {
        const struct event_need *need = &draft->plan->needs[draft->event_of[bit]];
        bool topdown = draft->catalog->events[draft->event_of[bit]].topdown;
        stands = !plan_set_has(set, bit) || (need->free && need->reg == 0 && !topdown);
    }
    return stands;
}

// ---- level 1 ----

static bool is_category(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return true;
    return false;
}

static bool is_of_level1(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_metrics; i++)
        if (catalog->level1.metrics[i] == metric)
            return true;
    return false;
}

// True if others' counts lack what siblings took from one another. It stands beside the categories: each slot that a
// thread neither uses nor leaves empty is its sibling's (core/counts/core_slots.h).
static bool lacks_contention(const struct plan_draft *draft) {
    const struct catalog *catalog = draft->catalog;
    bool lacks = false;
    if (!draft->request->apart || !catalog->level1.per_thread)
        return false;
    const struct formula *formula = catalog->metrics[catalog->level1.contention].formula;
    for (size_t i = 0; i < formula->n_variables; i++)
        lacks = lacks || draft->plan->support[formula->variables[i]] == PLAN_NOT_RECORDED;
    return lacks;
}

// The events of the categories and of the metrics they need: all must come from one window.
static int level1_set(struct plan_draft *draft, struct plan_set *set) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    int r = add_formula(draft, set, level1->pipeline_slots);
    for (size_t i = 0; i < level1->n_metrics && r == 0; i++)
        if ((int)level1->metrics[i] != level1->contention || !lacks_contention(draft))
            r = add_formula(draft, set, draft->catalog->metrics[level1->metrics[i]].formula);
    for (size_t i = 0; level1->per_thread && i < THREAD_SLOTS_N && r == 0; i++)
        r = add_formula(draft, set, level1->thread[i]);
    return r;
}

// Every group's carried events include none of a split (catalog_check), so the catalog's needs apply.
static bool split_fits(const struct plan_draft *draft) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    const struct plan *plan = draft->plan;
    for (size_t i = 0; i < level1->n_parts; i++)
        if (!fit_check(&draft->pmu, plan->needs, level1->parts[i].events, level1->parts[i].n, NULL))
            return false;
    return level1->n_parts > 0 && (plan->general_counters == 0 || plan->general_counters > plan->reserved_counters);
}

// ---- what rules a metric out ----

// True if the level-1 categories depend on a metric that no host can measure. The categories are planned together or
// not at all.
static bool level1_unmeasurable(const struct catalog *catalog, struct plan_metric *metric) {
    for (size_t i = 0; i < catalog->level1.n_metrics; i++) {
        const struct catalog_metric *of = &catalog->metrics[catalog->level1.metrics[i]];
        if (!of->unmeasurable)
            continue;
        select_refuse(metric, "the level-1 categories need the metric %.60s: %.200s", of->name, of->unmeasurable);
        return true;
    }
    return false;
}

// True if a formula needs a core's pipeline slots, which only level 1 has.
static bool needs_core_slots(const struct catalog *catalog, const struct plan_metric *metric) {
    const struct formula *formula = catalog->metrics[metric->metric].formula;
    bool needs = false;
    for (size_t i = 0; i < formula->n_variables; i++)
        needs = needs || catalog->events[formula->variables[i]].kind == EVENT_CORE_SLOTS;
    return needs;
}

static bool lacks_core_slots(const struct catalog *catalog, const struct plan_metric *metric) {
    return needs_core_slots(catalog, metric) && !(catalog->level1.per_thread && is_of_level1(catalog, metric->metric));
}

// True for a field of PERF_METRICS without its leader: the PMU counts a field only in a group that the leader leads.
static bool lacks_leader(const struct plan_draft *draft, const struct catalog_event *event) {
    return event->topdown && event->need.free && !draft->led && !draft->request->apart;
}

// True if a field's modes differ from the leader's: the slots counter behind the fields is configured for one set of
// modes, the leader's.
static bool has_other_modes(const struct plan_draft *draft, const struct catalog_event *event) {
    return draft->led && event->code.pmu == 0 && event->need.free && event->code.exclude != 0;
}

// True if an event of the set is unavailable; sets the metric's reason.
static bool lacks_event(const struct plan_draft *draft, const struct plan_set *set, struct plan_metric *metric) {
    for (size_t bit = 0; bit < draft->n_events; bit++) {
        const struct catalog_event *event = &draft->catalog->events[draft->event_of[bit]];
        enum plan_support support = draft->plan->support[draft->event_of[bit]];
        if (!plan_set_has(set, bit))
            continue;
        if (event->sampling_only)
            select_refuse(metric, "the event %.100s can only be sampled, not counted", event->name);
        else if (event->known_dead && support != PLAN_NOT_RECORDED)
            select_refuse(metric, "the event %.60s is dead on this CPU: %.220s", event->name, event->known_dead);
        else if (support == PLAN_UNSUPPORTED)
            select_refuse(metric, "this CPU's PMU does not support the event %.100s", event->name);
        else if (support == PLAN_ELSEWHERE)
            select_refuse(
                metric,
                "the event %.100s belongs to the PMU %.60s, which this host lacks or which does not count for each CPU",
                event->name, draft->catalog->pmus[event->code.pmu]);
        else if (support == PLAN_NOT_RECORDED)
            select_refuse(metric, "the event %.100s is not in the log", event->name);
        else if (has_other_modes(draft, event))
            select_refuse(metric, "the event %.100s would count in other modes than %.100s, which leads it",
                          event->name, draft->catalog->events[draft->catalog->topdown[0]].name);
        else if (lacks_leader(draft, event))
            select_refuse(
                metric,
                "the event %.100s can only be counted in an event group that %.100s leads, for which the CPU has no "
                "room",
                event->name, draft->catalog->events[draft->catalog->topdown[0]].name);
        if (metric->reason[0] != '\0')
            return true;
    }
    return false;
}

// True if the vendor says that the events cannot be counted together. The vendor's statement covers everything behind a
// formula. If other metrics' values come from elsewhere, only the counters decide on the rest.
static bool parted_by_vendor(const struct plan_draft *draft, const struct plan_set *set, struct plan_metric *metric) {
    const struct catalog_metric *of = &draft->catalog->metrics[metric->metric];
    const double *smt = &draft->catalog->environment.literals[LITERAL_SMT_ON];
    size_t n = 0;
    for (size_t bit = 0; bit < draft->n_events; bit++)
        n += plan_set_has(set, bit);
    if (n < 2 || of->formula->n_metrics > 0)
        return false;
    if (of->constraint == CONSTRAINT_NO_GROUP)
        select_refuse(metric, "its events cannot be counted together, says the vendor (NO_GROUP_EVENTS)");
    else if (of->constraint == CONSTRAINT_NO_GROUP_NMI && draft->request->nmi_watchdog)
        select_refuse(metric, "its events cannot be counted together while the NMI watchdog holds a counter: "
                              "kernel.nmi_watchdog=0 gives it back");
    else if (of->constraint == CONSTRAINT_NO_GROUP_SMT && *smt != 0)
        select_refuse(metric,
                      "its events cannot be counted together while SMT is on, says the vendor (NO_GROUP_EVENTS_SMT)");
    return metric->reason[0] != '\0';
}

// ---- metrics to items ----

static enum plan_finding finding_of(const struct plan_draft *draft, const struct plan_metric *metric) {
    return draft->request->findings ? (enum plan_finding)draft->request->findings[metric->metric] : PLAN_FINDING_NONE;
}

static void new_item(struct plan_draft *draft, size_t index, const struct plan_set *set, unsigned weight, bool level1) {
    draft->item_of[index] = (int)draft->n_items;
    if (level1)
        draft->level1_item = (int)draft->n_items;
    draft->items[draft->n_items++] = (struct plan_item){.set = *set,
                                                        .weight = weight,
                                                        .unit = -1,
                                                        .level1 = level1,
                                                        .common = set_common(draft, set),
                                                        .stands = !level1 && set_stands(draft, set),
                                                        .finding = finding_of(draft, &draft->plan->metrics[index])};
}

// True if others' counts lack an event of the level-1 categories. Then each category whose events are there is a metric
// like any other, and there is no split. A core's pipeline slots need all of them.
static bool in_pieces(const struct plan_draft *draft, const struct plan_set *set, const struct plan_metric *metric) {
    bool lacks = false;
    if (needs_core_slots(draft->catalog, metric))
        return false;
    for (size_t bit = 0; bit < draft->n_events && draft->request->apart; bit++)
        lacks = lacks || (plan_set_has(set, bit) && draft->plan->support[draft->event_of[bit]] == PLAN_NOT_RECORDED);
    return lacks;
}

// Makes the set the metric's item, or says why it cannot be measured. Counts that others read apart need fit nothing.
static void place_set(struct plan_draft *draft, size_t index, const struct plan_set *set, unsigned weight,
                      bool level1) {
    struct plan_metric *metric = &draft->plan->metrics[index];
    bool apart = draft->request->apart;
    struct fit_reason why;
    bool fits = apart || plan_draft_fits(draft, set, &why);
    if (!fits && plan_standing_spreads(draft, metric->metric, set))
        new_item(draft, index, set, weight, level1);
    else if (!level1 && !apart && parted_by_vendor(draft, set, metric))
        return;
    else if (!fits && !(level1 && split_fits(draft)))
        plan_fit_explain(draft->request, &why, level1, metric->reason, sizeof metric->reason);
    else
        new_item(draft, index, set, weight, level1);
}

// The item of a metric: its own, or the one that all level-1 categories share with the metrics they are made of.
static int choose_item(struct plan_draft *draft, size_t index, unsigned weight) {
    struct plan_metric *metric = &draft->plan->metrics[index];
    const struct catalog_metric *of = &draft->catalog->metrics[metric->metric];
    bool level1 = is_category(draft->catalog, metric->metric);
    draft->item_of[index] = -1;
    draft->plan->level1_selected = draft->plan->level1_selected || level1;
    bool beside = (int)metric->metric == draft->catalog->level1.contention && lacks_contention(draft);
    if (draft->level1_item >= 0 && is_of_level1(draft->catalog, metric->metric) && !beside) {
        draft->item_of[index] = draft->level1_item;
        return 0;
    }
    struct plan_set set = {0};
    int r = level1 ? level1_set(draft, &set) : 0;
    if (r == 0 && level1 && in_pieces(draft, &set, metric)) {
        set = (struct plan_set){0};
        level1 = false;
    }
    if (r == 0 && !level1)
        r = add_formula(draft, &set, of->formula);
    if (r < 0)
        return r;
    if (of->unmeasurable)
        select_refuse(metric, "%s", of->unmeasurable);
    else if (level1 && level1_unmeasurable(draft->catalog, metric))
        return 0;
    else if (lacks_core_slots(draft->catalog, metric))
        select_refuse(metric, "its formula needs level 1, which this host cannot count");
    else if (set_empty(&set) && of->formula->n_metrics > 0)
        metric->unit = PLAN_COMBINED;
    else if (set_empty(&set))
        select_refuse(metric, "its formula counts no event on this host");
    else if (finding_of(draft, metric) == PLAN_FINDING_NEVER)
        select_refuse(
            metric, "its events got no counters, not even alone on a core: another user holds a counter that they "
                    "need, or the PMU cannot count them together. topdownd tries again, after ten seconds at first and "
                    "an hour at last");
    else if (lacks_event(draft, &set, metric))
        return 0;
    else
        place_set(draft, index, &set, weight, level1);
    return 0;
}

// Adds a metric unless it is there. A heavier weight of a later selection prevails.
int plan_select_metric(struct plan_draft *draft, unsigned metric, unsigned selection, unsigned weight, bool auxiliary) {
    struct plan *plan = draft->plan;
    int index = plan->place[metric], r = 0;
    if (index < 0) {
        unsigned chosen = plan_alternative_choose(draft->catalog, metric, plan->support, draft->request->dead);
        index = (int)plan->n_metrics++;
        plan->metrics[index] =
            (struct plan_metric){.metric = chosen, .unit = PLAN_NOT_PLANNABLE, .auxiliary = auxiliary};
        plan_alternative_place(plan, (unsigned)index);
        draft->selection_of[index] = selection;
        r = choose_item(draft, (size_t)index, weight);
    }
    int item = draft->item_of[index];
    if (item >= 0 && weight > draft->items[item].weight)
        draft->items[item].weight = weight;
    if (item >= 0 && draft->request->raised && selection < draft->request->n_selections &&
        draft->request->raised[selection])
        draft->items[item].raised = true;
    return r;
}

// The list grows as it is walked.
int plan_select_needed(struct plan_draft *draft, size_t first) {
    const struct plan *plan = draft->plan;
    int r = 0;
    for (size_t i = first; i < plan->n_metrics && r == 0; i++) {
        const struct formula *formula = draft->catalog->metrics[plan->metrics[i].metric].formula;
        for (size_t m = 0; m < formula->n_metrics && r == 0; m++)
            r = plan_select_metric(draft, formula->metrics[m], draft->selection_of[i], 0, true);
    }
    return r;
}

// True for the bound of an action that is made of what the plan has, whether that can be planned here or not: which
// metrics a plan has must not depend on the counters.
static bool is_free_opportunity(const struct plan_draft *draft, unsigned metric) {
    const struct formula *formula = draft->catalog->metrics[metric].formula;
    bool there = formula->n_variables == 0 && formula->n_metrics > 0 && draft->plan->place[metric] < 0;
    if (!there || opportunity_of(&draft->catalog->metrics[metric]) == OPPORTUNITY_N)
        return false;
    for (size_t i = 0; i < formula->n_metrics && there; i++)
        there = draft->plan->place[formula->metrics[i]] >= 0;
    return there;
}

// Adds the bounds that cost nothing.
static int select_opportunities(struct plan_draft *draft) {
    int r = 0;
    for (unsigned m = 0; m < draft->catalog->n_metrics && draft->plan->level1_selected && r == 0; m++)
        if (is_free_opportunity(draft, m))
            r = plan_select_metric(draft, m, 0, 0, true);
    return r;
}

// ---- what depends on others ----

static int compare_evaluation(const void *a, const void *b, void *context) {
    const struct plan *plan = context;
    unsigned x = plan->metrics[*(const unsigned *)a].metric, y = plan->metrics[*(const unsigned *)b].metric;
    return (x > y) - (x < y);
}

// In the catalog a metric comes after those it needs.
int plan_select_order(struct plan *plan) {
    free(plan->evaluation);
    plan->evaluation = calloc(plan->n_metrics + 1, sizeof *plan->evaluation);
    if (!plan->evaluation)
        return -ENOMEM;
    for (unsigned i = 0; i < plan->n_metrics; i++)
        plan->evaluation[i] = i;
    if (plan->n_metrics > 0)
        qsort_r(plan->evaluation, plan->n_metrics, sizeof *plan->evaluation, compare_evaluation, plan);
    return 0;
}

static void unplan(struct plan_draft *draft, size_t index) {
    draft->plan->metrics[index].unit = PLAN_NOT_PLANNABLE;
    draft->item_of[index] = -1;
    draft->dependent[index] = true;
}

// Drops the metrics that need a metric that cannot be planned.
static void drop_dependent(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    for (size_t i = 0; i < plan->n_metrics; i++) {
        struct plan_metric *metric = &plan->metrics[plan->evaluation[i]];
        const struct formula *formula = draft->catalog->metrics[metric->metric].formula;
        for (size_t m = 0; m < formula->n_metrics && metric->reason[0] == '\0'; m++) {
            const struct plan_metric *needed = &plan->metrics[plan->place[formula->metrics[m]]];
            if (needed->reason[0] == '\0')
                continue;
            if (draft->dependent[needed - plan->metrics]) // name the cause, not the path to it
                select_refuse(metric, "%s", needed->reason);
            else
                select_refuse(metric, "needs the metric %.60s: %.200s", draft->catalog->metrics[needed->metric].name,
                              needed->reason);
            unplan(draft, plan->evaluation[i]);
        }
    }
}

// Without one category there is no level 1. True if a category was dropped.
static bool drop_level1(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    const struct plan_metric *cause = NULL;
    bool dropped = false;
    if (draft->request->apart && draft->level1_item < 0)
        return false; // in pieces
    for (size_t i = 0; i < plan->n_metrics && !cause; i++)
        if (is_category(draft->catalog, plan->metrics[i].metric) && plan->metrics[i].reason[0] != '\0')
            cause = &plan->metrics[i];
    for (size_t i = 0; i < plan->n_metrics && cause; i++) {
        struct plan_metric *metric = &plan->metrics[i];
        if (!is_category(draft->catalog, metric->metric) || metric->reason[0] != '\0')
            continue;
        select_refuse(metric, "%s", cause->reason);
        unplan(draft, i);
        dropped = true;
    }
    return dropped;
}

// Drops auxiliary metrics that only unplannable metrics need.
static int drop_unneeded(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    bool *needed = calloc(plan->n_metrics + 1, sizeof *needed);
    if (!needed)
        return -ENOMEM;
    for (size_t i = plan->n_metrics; i-- > 0;) { // from the end, so that a metric comes before those it needs
        size_t index = plan->evaluation[i];
        struct plan_metric *metric = &plan->metrics[index];
        const struct formula *formula = draft->catalog->metrics[metric->metric].formula;
        bool is_bound = opportunity_of(&draft->catalog->metrics[metric->metric]) != OPPORTUNITY_N;
        if (metric->reason[0] != '\0')
            continue;
        if (metric->auxiliary && !needed[index] && !is_bound) {
            select_refuse(metric, "none of the metrics that need it can be planned");
            unplan(draft, index);
            continue;
        }
        for (size_t m = 0; m < formula->n_metrics; m++)
            needed[plan->place[formula->metrics[m]]] = true;
    }
    free(needed);
    return 0;
}

// Removes items without remaining metrics from packing.
static void drop_empty_items(struct plan_draft *draft) {
    size_t kept = 0;
    for (size_t item = 0; item < draft->n_items; item++) {
        bool used = false;
        for (size_t i = 0; i < draft->plan->n_metrics; i++)
            used = used || draft->item_of[i] == (int)item;
        if (draft->level1_item == (int)item)
            draft->level1_item = used ? (int)kept : -1;
        if (!used)
            continue;
        for (size_t i = 0; i < draft->plan->n_metrics; i++)
            if (draft->item_of[i] == (int)item)
                draft->item_of[i] = (int)kept;
        draft->items[kept++] = draft->items[item];
    }
    draft->n_items = kept;
}

int plan_select(struct plan_draft *draft) {
    int r = 0;
    for (unsigned s = 0; s < draft->request->n_selections; s++) {
        const struct plan_selection *selection = &draft->request->selections[s];
        const struct catalog_group *group = &draft->catalog->groups[selection->group];
        for (size_t i = 0; i < group->n_metrics && r == 0; i++)
            r = plan_select_metric(draft, catalog_metric_here(draft->catalog, group->metrics[i]), s, selection->weight,
                                   false);
    }
    if (r == 0)
        r = plan_select_needed(draft, 0);
    if (r == 0)
        r = select_opportunities(draft);
    if (r == 0)
        r = plan_select_order(draft->plan);
    if (r < 0)
        return r;
    drop_dependent(draft);
    if (drop_level1(draft))
        drop_dependent(draft);
    r = drop_unneeded(draft);
    drop_empty_items(draft);
    return r;
}
