// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan/plan_append.h"
#include "core/plan/plan_draft.h"
#include "core/plan/plan_fetch.h"
#include "core/plan/plan_fit.h"
#include "core/plan/plan_lead.h"
#include "core/plan/plan_pack.h"
#include "core/plan/plan_round.h"
#include "core/plan/plan_select.h"
#include "core/plan/plan_standing.h"
#include "core/spec/opportunity.h"

// Makes a plan: select metrics and turn each into an item, a set of events that stay together (plan_select.h; the
// level-1 categories are one item), pack the items into event groups, and give each group its slots.

// ---- event groups ----

static bool in_every_part(const struct catalog_level1 *level1, unsigned event) {
    for (size_t i = 0; i < level1->n_parts; i++) {
        size_t j = 0;
        while (j < level1->parts[i].n && level1->parts[i].events[j] != event)
            j++;
        if (j == level1->parts[i].n)
            return false;
    }
    return true;
}

// Level 1 on too few counters: one unit whose parts run in adjacent slots.
static int composite_append(struct plan_draft *draft, struct plan_item *item) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    struct plan_set all = {0};
    int r = 0;
    for (size_t i = 0; i < level1->n_parts && r == 0; i++)
        for (size_t j = 0; j < level1->parts[i].n && r == 0; j++)
            r = plan_draft_add(draft, &all, level1->parts[i].events[j]);
    if (r == 0)
        r = item->unit = plan_append_unit(draft, &all);
    if (r < 0)
        return r;
    struct plan_unit *unit = &draft->plan->units[item->unit];
    for (size_t i = 0; i < level1->parts[0].n && unit->reference < 0; i++)
        if (in_every_part(level1, level1->parts[0].events[i]))
            unit->reference = (int)level1->parts[0].events[i];
    r = 0;
    for (size_t i = 0; i < level1->n_parts && r == 0; i++) {
        struct plan_set part = {0};
        for (size_t j = 0; j < level1->parts[i].n && r == 0; j++)
            r = plan_draft_add(draft, &part, level1->parts[i].events[j]);
        if (r == 0)
            r = plan_append_group(draft, (unsigned)item->unit, &part);
        unit->n_groups++;
    }
    return r;
}

// Appends one unit and event group for every bin, the first item's bin first.
static int bins_append(struct plan_draft *draft, const struct plan_set *sets, const unsigned *bins,
                       struct plan_item *const *packed, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (packed[i]->unit >= 0)
            continue;
        struct plan_set all = {0};
        for (size_t j = i; j < n; j++)
            if (bins[j] == bins[i])
                for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
                    all.words[w] |= sets[j].words[w];
        int unit = plan_append_unit(draft, &all);
        int r = unit < 0 ? unit : plan_append_group(draft, (unsigned)unit, &all);
        if (r < 0)
            return r;
        draft->plan->units[unit].n_groups = 1;
        for (size_t j = i; j < n; j++)
            if (bins[j] == bins[i])
                packed[j]->unit = unit;
    }
    return 0;
}

// Appends a unit for the events that every event group carries. If nothing rotates, it gets an event group like any
// other.
static int common_append(struct plan_draft *draft) {
    static const struct plan_set nothing;
    struct plan *plan = draft->plan;
    struct plan_unit *unit = &plan->units[plan->n_units];
    bool rotates = plan->n_units > 0;
    unsigned index = (unsigned)plan->n_units, *events = calloc(draft->n_carried, sizeof *events);
    if (!events)
        return -ENOMEM;
    memcpy(events, draft->carried, draft->n_carried * sizeof *events);
    plan_sort_events(events, draft->n_carried);
    *unit = (struct plan_unit){.first_group = (unsigned)plan->n_groups,
                               .n_groups = rotates ? 0 : 1,
                               .events = events,
                               .n_events = draft->n_carried,
                               .reference = -1};
    plan->n_units++;
    plan->common_unit = rotates ? (int)index : -1;
    for (size_t i = 0; i < draft->n_items; i++)
        if (draft->items[i].common)
            draft->items[i].unit = (int)index;
    return rotates ? 0 : plan_append_group(draft, index, &nothing);
}

// True if level 1 runs in the parts of its split.
static bool is_composite(const struct plan_draft *draft, const struct plan_item *item) {
    return item->level1 && !draft->request->apart &&
           ((item->finding == PLAN_FINDING_SPLIT && draft->catalog->level1.n_parts > 0) ||
            !plan_draft_fits(draft, &item->set, NULL));
}

// Appends what needs no packing, and lists the other items: those of any event group first. Returns their number.
static int list_items(struct plan_draft *draft, struct plan_set *sets, struct plan_item **packed, size_t *n_any) {
    size_t n = 0;
    int r = 0;
    for (int apart = 0; apart < 2; apart++) {
        for (size_t i = 0; i < draft->n_items && r >= 0; i++) {
            struct plan_item *item = &draft->items[i];
            if (item->common || item->stands || (item->finding == PLAN_FINDING_NONE) != (apart == 0))
                continue;
            if (is_composite(draft, item)) {
                r = composite_append(draft, item);
                continue;
            }
            sets[n] = item->set;
            packed[n++] = item;
        }
        *n_any = apart == 0 ? n : *n_any;
    }
    return r < 0 ? r : (int)n;
}

static int draft_pack(struct plan_draft *draft) {
    struct plan_set *sets = calloc(draft->n_items + 1, sizeof *sets);
    struct plan_item **packed = calloc(draft->n_items + 1, sizeof *packed);
    unsigned *bins = calloc(draft->n_items + 1, sizeof *bins);
    int r = sets && packed && bins ? 0 : -ENOMEM;
    size_t n = 0, n_any = 0;
    plan_lead_choose(draft);
    if (r >= 0)
        r = list_items(draft, sets, packed, &n_any);
    if (r >= 0)
        n = (size_t)r;
    for (unsigned i = 0; i < n; i++)
        bins[i] = i;
    if (r >= 0 && !draft->request->apart) {
        r = plan_pack(sets, n_any, &draft->pmu, draft->needs, bins, NULL);
        if (r >= 0)
            plan_pack_apart(sets, n_any, n, (unsigned)r, bins);
    }
    if (r >= 0)
        r = bins_append(draft, sets, bins, packed, n);
    if (r >= 0)
        r = plan_fetch(draft);
    if (r >= 0 && draft->n_carried > 0)
        r = common_append(draft);
    if (r >= 0)
        r = plan_standing_append(draft);
    free(bins);
    free(packed);
    free(sets);
    return r;
}

// ---- names ----

// The selected metric group to which most of the unit's metrics belong.
static const char *unit_subject(const struct plan_draft *draft, unsigned unit) {
    size_t best = 0, best_count = 0;
    if (unit >= draft->first_fetched && unit < draft->end_fetched)
        return plan_fetch_subject(draft, unit);
    for (unsigned s = 0; s < draft->request->n_selections; s++) {
        size_t count = 0;
        for (size_t i = 0; i < draft->plan->n_metrics; i++)
            count += draft->selection_of[i] == s && draft->plan->metrics[i].unit == (int)unit;
        if (count > best_count) {
            best = s;
            best_count = count;
        }
    }
    return draft->catalog->groups[draft->request->selections[best].group].name;
}

static bool name_taken(const struct plan *plan, const char *name, size_t before) {
    for (size_t g = 0; g < before; g++)
        if (strcmp(plan->groups[g].name, name) == 0)
            return true;
    return false;
}

static void name_groups(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    for (size_t g = 0; g < plan->n_groups; g++) {
        char base[PLAN_NAME_MAX - 12], *name = plan->groups[g].name;
        (void)snprintf(base, sizeof base, "%s", unit_subject(draft, plan->groups[g].unit));
        for (char *c = base; *c != '\0'; c++)
            *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
        (void)snprintf(name, PLAN_NAME_MAX, "%s", base);
        for (unsigned i = 2; name_taken(plan, name, g); i++)
            (void)snprintf(name, PLAN_NAME_MAX, "%s_%u", base, i);
    }
}

// ---- slots ----

static unsigned unit_weight(const struct plan_draft *draft, unsigned unit) {
    unsigned weight = 1;
    for (size_t i = 0; i < draft->n_items; i++)
        if (draft->items[i].unit == (int)unit && draft->items[i].weight > weight)
            weight = draft->items[i].weight;
    return weight;
}

// True for a unit that takes slots.
static bool unit_rotates(const struct plan_draft *draft, unsigned unit) {
    return draft->plan->common_unit != (int)unit && unit < draft->first_standing;
}

// Level 1 has its third, so metrics measured in its groups are not raised.
static bool unit_raised(const struct plan_draft *draft, unsigned unit) {
    bool raised = false;
    for (size_t i = 0; i < draft->n_items; i++)
        raised = raised || (draft->items[i].unit == (int)unit && draft->items[i].raised);
    return raised && draft->plan->level1_unit != (int)unit;
}

// Raising every unit raises none.
static bool some_raised(const struct plan_draft *draft) {
    const struct plan *plan = draft->plan;
    bool some = false, all = true;
    for (unsigned u = 0; u < plan->n_units; u++) {
        if (!unit_rotates(draft, u) || plan->level1_unit == (int)u)
            continue;
        some = some || unit_raised(draft, u);
        all = all && unit_raised(draft, u);
    }
    return some && !all;
}

// Gives level 1 its third among the selections, and as large a share, up to half, beside what is fetched.
static void give_level1(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    struct plan_unit *level1 = &plan->units[plan->level1_unit];
    for (unsigned u = draft->first_fetched; u < draft->end_fetched; u++)
        plan->units[u].slots = 0;
    plan_give_level1_its_third(plan, draft->request->idle);
    double share = fmin((double)(level1->slots * level1->n_groups) / plan_slots(plan), 0.5);
    for (unsigned u = draft->first_fetched; u < draft->end_fetched; u++)
        plan->units[u].slots = 1;
    while (level1->slots * level1->n_groups < share * plan_slots(plan))
        level1->slots++;
}

// Raised units get `times` their slots. Returns the number of slots of all units.
static unsigned give_weights(struct plan_draft *draft, unsigned times) {
    struct plan *plan = draft->plan;
    for (unsigned u = 0; u < plan->n_units; u++)
        plan->units[u].slots = unit_rotates(draft, u) ? unit_weight(draft, u) * (unit_raised(draft, u) ? times : 1) : 0;
    // another metric's weight in the same event group does not apply to level 1
    if (draft->level1_item >= 0 && (draft->items[draft->level1_item].weight == 0 || draft->request->adaptive) &&
        plan->level1_unit != plan->common_unit)
        give_level1(draft);
    return plan_slots(plan);
}

static void give_slots(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    unsigned baseline = give_weights(draft, 1), raise = some_raised(draft) ? PLAN_RAISE_MAX : 1;
    for (size_t u = draft->first_standing; u < plan->n_units; u++)
        plan->units[u].baseline_share = 1;
    if (baseline == 0)
        return; // nothing rotates
    for (unsigned u = 0; u < plan->n_units; u++)
        if (unit_rotates(draft, u))
            plan->units[u].baseline_share =
                (double)(plan->units[u].slots * plan->units[u].n_groups) / baseline * (1 - draft->request->idle);
    while (give_weights(draft, raise) > PLAN_GROWTH_MAX * baseline)
        raise--;
    uint64_t busy_ns = plan_slots(plan) * plan->slot_ns,
             least_ns = draft->request->round_least_ns > 0 ? draft->request->round_least_ns : PLAN_ROUND_NS_MIN;
    unsigned times = (unsigned)((least_ns + busy_ns - 1) / busy_ns);
    for (size_t u = 0; u < plan->n_units; u++)
        plan->units[u].slots *= times;
}

// Makes a round of one slot, in which all event groups count.
static int make_interval(struct plan *plan) {
    for (unsigned u = 0; u < plan->n_units; u++)
        plan->units[u].slots = 1;
    int r = plan_make_round(plan, 0, 0);
    plan->round_ns = plan->slot_ns;
    return r;
}

// ---- the whole ----

static int draft_init(struct plan_draft *draft, const struct plan_request *request, struct plan *plan) {
    size_t n_events = request->catalog->n_events, n_metrics = request->catalog->n_metrics;
    *draft = (struct plan_draft){
        .request = request, .catalog = request->catalog, .plan = plan, .level1_item = -1, .first_standing = UINT_MAX};
    plan->catalog = request->catalog;
    plan->general_counters = request->general_counters;
    plan->reserved_counters =
        request->reserved_counters < request->general_counters ? request->reserved_counters : request->general_counters;
    plan->slot_ns = request->slot_ns;
    plan->level1_unit = plan->common_unit = -1;
    plan->support = calloc(n_events, sizeof *plan->support);
    plan->metrics = calloc(n_metrics + 1, sizeof *plan->metrics);
    plan->place = malloc((n_metrics + 1) * sizeof *plan->place);
    plan->units = calloc(n_metrics + 2, sizeof *plan->units);
    plan->groups = calloc(n_metrics + (request->boxes ? n_events : 0) + CATALOG_SPLIT_MAX + 2, sizeof *plan->groups);
    draft->items = calloc(n_metrics + 1, sizeof *draft->items);
    draft->item_of = calloc(n_metrics + 1, sizeof *draft->item_of);
    draft->selection_of = calloc(n_metrics + 1, sizeof *draft->selection_of);
    draft->dependent = calloc(n_metrics + 1, sizeof *draft->dependent);
    draft->event_of = calloc(n_events, sizeof *draft->event_of);
    draft->bit_of = malloc(n_events * sizeof *draft->bit_of);
    if (!plan->support || !plan->metrics || !plan->place || !plan->units || !plan->groups || !draft->items ||
        !draft->item_of || !draft->selection_of || !draft->dependent || !draft->event_of || !draft->bit_of ||
        plan_fit_init(plan, request) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n_events; i++)
        draft->bit_of[i] = -1;
    for (size_t m = 0; m < n_metrics; m++)
        plan->place[m] = -1;
    if (request->support)
        memcpy(plan->support, request->support, n_events);
    plan_lead_set_aside(draft);
    return 0;
}

static void draft_deinit(struct plan_draft *draft) {
    free(draft->bit_of);
    free(draft->event_of);
    free(draft->dependent);
    free(draft->selection_of);
    free(draft->item_of);
    free(draft->items);
}

static int draft_run(struct plan_draft *draft) {
    struct plan *plan = draft->plan;
    int r = plan_select(draft);
    if (r >= 0)
        r = draft_pack(draft);
    if (r < 0)
        return r;
    if (plan->n_units > PLAN_UNITS_MAX)
        return -E2BIG;
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (draft->item_of[i] >= 0)
            plan->metrics[i].unit = draft->items[draft->item_of[i]].unit;
    if (draft->level1_item >= 0)
        plan->level1_unit = draft->items[draft->level1_item].unit;
    name_groups(draft);
    if (draft->request->apart)
        return make_interval(plan);
    if (plan->n_units > 0)
        give_slots(draft);
    uint64_t interval_ns = draft->request->interval_ns > 0 ? draft->request->interval_ns : PLAN_INTERVAL_NS;
    return plan_make_round(plan, draft->request->idle, interval_ns);
}

int plan_new(const struct plan_request *request, struct plan **out) {
    assert(request->slot_ns > 0 && request->idle >= 0 && request->idle <= 0.9);
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return -ENOMEM;
    struct plan_draft draft;
    int r = draft_init(&draft, request, plan);
    if (r == 0)
        r = draft_run(&draft);
    draft_deinit(&draft);
    if (r < 0) {
        plan_free(plan);
        return r;
    }
    *out = plan;
    return 0;
}

size_t plan_n_opened(const struct plan *plan) {
    size_t n = 0;
    for (size_t g = 0; g < plan->n_groups; g++)
        n += plan->groups[g].n_events;
    return n;
}

size_t plan_n_cpu_metrics(const struct plan *plan) {
    size_t n = plan->n_metrics;
    while (n > 0 && plan->metrics[n - 1].auxiliary &&
           opportunity_of(&plan->catalog->metrics[plan->metrics[n - 1].metric]) != OPPORTUNITY_N)
        n--;
    return n;
}

struct plan *plan_free(struct plan *plan) {
    if (plan) {
        free(plan->round);
        for (size_t u = 0; u < plan->n_units; u++)
            free(plan->units[u].events);
        free(plan->units);
        for (size_t g = 0; g < plan->n_groups; g++)
            free(plan->groups[g].events);
        free(plan->groups);
        free(plan->evaluation);
        free(plan->place);
        free(plan->metrics);
        free(plan->needs);
        free(plan->support);
        free(plan);
    }
    return NULL;
}
