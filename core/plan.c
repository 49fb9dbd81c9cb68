// SPDX-License-Identifier: Apache-2.0
#include "core/plan.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/plan_pack.h"
#include "core/plan_round.h"

// Making a plan: select metrics, turn each into an item (a set of events that stay together; the level-1 categories are
// one item), pack the items into event groups, give each its slots.

struct item {
    struct plan_set set;
    unsigned weight; // 0: the default
    int unit;
    bool level1;
};

struct draft {
    const struct plan_request *request;
    const struct catalog *catalog;
    struct plan *plan;
    unsigned *event_of; // catalog event of each bit
    int *bit_of;        // bit of each catalog event, -1
    size_t n_events;    // bits in use
    struct plan_set fixed;
    struct item *items; // one per plan metric, [0 .. n_items)
    size_t n_items;
    int *item_of;           // item of each plan metric, -1: not plannable
    unsigned *selection_of; // which selection named the metric first
    int level1_item;        // -1
};

bool plan_fits(const struct catalog *catalog, const unsigned *events, size_t n, unsigned general_counters) {
    size_t general = 0;
    for (size_t i = 0; i < n; i++)
        general += !catalog->events[events[i]].fixed;
    return general_counters == 0 || general <= general_counters;
}

// ---- selection ----

static int plan_metric_index(const struct plan *plan, unsigned metric) {
    for (size_t i = 0; i < plan->n_metrics; i++)
        if (plan->metrics[i].metric == metric)
            return (int)i;
    return -1;
}

static size_t selection_size(const struct plan_request *request) {
    size_t n = 0;
    for (size_t s = 0; s < request->n_selections; s++)
        n += request->catalog->groups[request->selections[s].group].n_metrics;
    return n;
}

static int set_add(struct draft *draft, struct plan_set *set, unsigned event) {
    if (event == CATALOG_CPU_SECONDS)
        return 0;
    int *bit = &draft->bit_of[event];
    if (*bit < 0) {
        if (draft->n_events == PLAN_PACK_EVENTS_MAX)
            return -E2BIG;
        *bit = (int)draft->n_events;
        draft->event_of[draft->n_events++] = event;
        if (draft->catalog->events[event].fixed)
            draft->fixed.words[*bit / 64] |= UINT64_C(1) << (*bit % 64);
    }
    set->words[*bit / 64] |= UINT64_C(1) << (*bit % 64);
    return 0;
}

static int set_add_formula(struct draft *draft, struct plan_set *set, const struct formula *formula) {
    int r = 0;
    for (size_t i = 0; i < formula->n_variables && r == 0; i++)
        r = set_add(draft, set, formula->variables[i]);
    return r;
}

static unsigned general_width(const struct draft *draft, const struct plan_set *set) {
    unsigned width = 0;
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        width += (unsigned)__builtin_popcountll(set->words[w] & ~draft->fixed.words[w]);
    return width;
}

// General counters that an event group may take.
static unsigned capacity(const struct draft *draft) {
    const struct plan *plan = draft->plan;
    return plan->general_counters == 0 ? UINT_MAX : plan->general_counters - plan->reserved_counters;
}

static bool set_fits(const struct draft *draft, const struct plan_set *set) {
    return general_width(draft, set) <= capacity(draft);
}

static bool set_empty(const struct plan_set *set) {
    static const struct plan_set empty;
    return memcmp(set, &empty, sizeof empty) == 0;
}

static bool metric_is_level1(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return true;
    return false;
}

static int level1_set(struct draft *draft, struct plan_set *set) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    int r = set_add_formula(draft, set, level1->pipeline_slots);
    for (size_t i = 0; i < level1->n_categories && r == 0; i++)
        r = set_add_formula(draft, set, draft->catalog->metrics[level1->categories[i].metric].formula);
    return r;
}

static bool split_fits(const struct draft *draft) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    for (size_t i = 0; i < level1->n_parts; i++)
        if (!plan_fits(draft->catalog, level1->parts[i].events, level1->parts[i].n, capacity(draft)))
            return false;
    return level1->n_parts > 0 && capacity(draft) > 0;
}

// An event of the set that the PMU says it does not have, or -1.
static int find_unsupported(const struct draft *draft, const struct plan_set *set) {
    for (size_t bit = 0; bit < draft->n_events; bit++)
        if (set->words[bit / 64] >> (bit % 64) & 1 && draft->plan->support[draft->event_of[bit]] == PLAN_UNSUPPORTED)
            return (int)draft->event_of[bit];
    return -1;
}

static void say_too_wide(const struct draft *draft, const struct plan_set *set, bool level1, char *out, size_t size) {
    char reserved[64] = "";
    if (draft->plan->reserved_counters > 0)
        (void)snprintf(reserved, sizeof reserved, ", %u of them reserved for others", draft->plan->reserved_counters);
    (void)snprintf(out, size, "%s %u counters at once, this host has %u%s%s",
                   level1 ? "the level-1 categories need" : "needs", general_width(draft, set),
                   draft->request->general_counters, reserved, level1 ? ", and the spec has no split that fits" : "");
}

// The item of a metric: its own, or the one that all level-1 categories share.
static int draft_item(struct draft *draft, size_t index, unsigned weight) {
    struct plan_metric *metric = &draft->plan->metrics[index];
    bool level1 = metric_is_level1(draft->catalog, metric->metric);
    draft->plan->level1_selected = draft->plan->level1_selected || level1;
    if (level1 && draft->level1_item >= 0) {
        draft->item_of[index] = draft->level1_item;
        return 0;
    }
    struct plan_set set = {0};
    int r = level1 ? level1_set(draft, &set)
                   : set_add_formula(draft, &set, draft->catalog->metrics[metric->metric].formula);
    if (r < 0)
        return r;
    draft->item_of[index] = -1;
    int unsupported = find_unsupported(draft, &set);
    if (set_empty(&set)) {
        (void)snprintf(metric->reason, sizeof metric->reason, "its formula counts no event");
    } else if (unsupported >= 0) {
        (void)snprintf(metric->reason, sizeof metric->reason, "this CPU's PMU does not support the event %s",
                       draft->catalog->events[unsupported].name);
    } else if (!set_fits(draft, &set) && !(level1 && split_fits(draft))) {
        say_too_wide(draft, &set, level1, metric->reason, sizeof metric->reason);
    } else {
        draft->item_of[index] = (int)draft->n_items;
        if (level1)
            draft->level1_item = (int)draft->n_items;
        draft->items[draft->n_items++] = (struct item){.set = set, .weight = weight, .unit = -1, .level1 = level1};
    }
    return 0;
}

static int draft_select(struct draft *draft) {
    struct plan *plan = draft->plan;
    for (unsigned s = 0; s < draft->request->n_selections; s++) {
        const struct plan_selection *selection = &draft->request->selections[s];
        const struct catalog_group *group = &draft->catalog->groups[selection->group];
        for (size_t i = 0; i < group->n_metrics; i++) {
            int index = plan_metric_index(plan, group->metrics[i]);
            if (index < 0) {
                index = (int)plan->n_metrics++;
                plan->metrics[index] = (struct plan_metric){.metric = group->metrics[i], .unit = -1};
                draft->selection_of[index] = s;
                int r = draft_item(draft, (size_t)index, selection->weight);
                if (r < 0)
                    return r;
            }
            int item = draft->item_of[index];
            if (item >= 0 && selection->weight > draft->items[item].weight)
                draft->items[item].weight = selection->weight;
        }
    }
    return 0;
}

// ---- event groups ----

static int compare_unsigned(const void *a, const void *b) {
    const unsigned *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int events_of_set(const struct draft *draft, const struct plan_set *set, unsigned **out, size_t *n_out) {
    unsigned *events = calloc(draft->n_events + 1, sizeof *events);
    if (!events)
        return -ENOMEM;
    size_t n = 0;
    for (size_t bit = 0; bit < draft->n_events; bit++)
        if (set->words[bit / 64] >> (bit % 64) & 1)
            events[n++] = draft->event_of[bit];
    qsort(events, n, sizeof *events, compare_unsigned);
    *out = events;
    *n_out = n;
    return 0;
}

static int group_append(struct draft *draft, unsigned unit, const struct plan_set *set) {
    struct plan_group *group = &draft->plan->groups[draft->plan->n_groups];
    int r = events_of_set(draft, set, &group->events, &group->n_events);
    if (r == 0) {
        group->unit = unit;
        draft->plan->n_groups++;
    }
    return r;
}

// Appends a unit for `set`; its event groups follow.
static int unit_append(struct draft *draft, const struct plan_set *set) {
    struct plan *plan = draft->plan;
    struct plan_unit *unit = &plan->units[plan->n_units];
    *unit = (struct plan_unit){.first_group = (unsigned)plan->n_groups, .reference = -1};
    int r = events_of_set(draft, set, &unit->events, &unit->n_events);
    if (r < 0)
        return r;
    return (int)plan->n_units++;
}

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
static int composite_append(struct draft *draft, struct item *item) {
    const struct catalog_level1 *level1 = &draft->catalog->level1;
    struct plan_set all = {0};
    int r = 0;
    for (size_t i = 0; i < level1->n_parts && r == 0; i++)
        for (size_t j = 0; j < level1->parts[i].n && r == 0; j++)
            r = set_add(draft, &all, level1->parts[i].events[j]);
    if (r == 0)
        r = item->unit = unit_append(draft, &all);
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
            r = set_add(draft, &part, level1->parts[i].events[j]);
        if (r == 0)
            r = group_append(draft, (unsigned)item->unit, &part);
        unit->n_groups++;
    }
    return r;
}

// One unit and event group for every bin; the bin of the first item comes first.
static int bins_append(struct draft *draft, const struct plan_set *sets, const unsigned *bins,
                       struct item *const *packed, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (packed[i]->unit >= 0)
            continue;
        struct plan_set all = {0};
        for (size_t j = i; j < n; j++)
            if (bins[j] == bins[i])
                for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
                    all.words[w] |= sets[j].words[w];
        int unit = unit_append(draft, &all);
        int r = unit < 0 ? unit : group_append(draft, (unsigned)unit, &all);
        if (r < 0)
            return r;
        draft->plan->units[unit].n_groups = 1;
        for (size_t j = i; j < n; j++)
            if (bins[j] == bins[i])
                packed[j]->unit = unit;
    }
    return 0;
}

// As plan_pack takes it: 0 is no limit. Where no general counter is left, no set that gets here needs one.
static unsigned pack_capacity(const struct draft *draft) {
    if (draft->plan->general_counters == 0)
        return 0;
    return capacity(draft) > 0 ? capacity(draft) : 1;
}

static int draft_pack(struct draft *draft) {
    struct plan_set *sets = calloc(draft->n_items + 1, sizeof *sets);
    struct item **packed = calloc(draft->n_items + 1, sizeof *packed);
    unsigned *bins = calloc(draft->n_items + 1, sizeof *bins);
    int r = sets && packed && bins ? 0 : -ENOMEM;
    size_t n = 0;
    for (size_t i = 0; i < draft->n_items && r >= 0; i++) {
        struct item *item = &draft->items[i];
        if (set_fits(draft, &item->set)) {
            sets[n] = item->set;
            packed[n++] = item;
        } else {
            r = composite_append(draft, item);
        }
    }
    if (r >= 0)
        r = plan_pack(sets, n, &draft->fixed, pack_capacity(draft), bins);
    if (r >= 0)
        r = bins_append(draft, sets, bins, packed, n);
    free(bins);
    free(packed);
    free(sets);
    return r;
}

// ---- names ----

// The selected metric group that most of the unit's metrics come from.
static const char *unit_subject(const struct draft *draft, unsigned unit) {
    size_t best = 0, best_count = 0;
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

static void name_groups(struct draft *draft) {
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

static unsigned unit_weight(const struct draft *draft, unsigned unit) {
    unsigned weight = 0;
    for (size_t i = 0; i < draft->n_items; i++)
        if (draft->items[i].unit == (int)unit && draft->items[i].weight > weight)
            weight = draft->items[i].weight;
    return weight;
}

static void give_slots(struct draft *draft) {
    struct plan *plan = draft->plan;
    for (unsigned u = 0; u < plan->n_units; u++) {
        unsigned weight = unit_weight(draft, u);
        plan->units[u].slots = weight > 0 ? weight : 1;
    }
    // another metric's weight in the same event group is no word about level 1
    if (draft->level1_item >= 0 && draft->items[draft->level1_item].weight == 0)
        plan_give_level1_its_third(plan, draft->request->idle);
    unsigned times =
        (unsigned)((PLAN_ROUND_NS_MIN + plan_slots(plan) * plan->slot_ns - 1) / (plan_slots(plan) * plan->slot_ns));
    for (size_t u = 0; u < plan->n_units; u++)
        plan->units[u].slots *= times;
}

// ---- all of it ----

static int draft_init(struct draft *draft, const struct plan_request *request, struct plan *plan) {
    size_t n_events = request->catalog->n_events, n_metrics = selection_size(request);
    *draft = (struct draft){.request = request, .catalog = request->catalog, .plan = plan, .level1_item = -1};
    plan->catalog = request->catalog;
    plan->general_counters = request->general_counters;
    plan->reserved_counters =
        request->reserved_counters < request->general_counters ? request->reserved_counters : request->general_counters;
    plan->slot_ns = request->slot_ns;
    plan->level1_unit = -1;
    plan->support = calloc(n_events, sizeof *plan->support);
    plan->metrics = calloc(n_metrics + 1, sizeof *plan->metrics);
    plan->units = calloc(n_metrics + 1, sizeof *plan->units);
    plan->groups = calloc(n_metrics + CATALOG_SPLIT_MAX + 1, sizeof *plan->groups);
    draft->items = calloc(n_metrics + 1, sizeof *draft->items);
    draft->item_of = calloc(n_metrics + 1, sizeof *draft->item_of);
    draft->selection_of = calloc(n_metrics + 1, sizeof *draft->selection_of);
    draft->event_of = calloc(n_events, sizeof *draft->event_of);
    draft->bit_of = malloc(n_events * sizeof *draft->bit_of);
    if (!plan->support || !plan->metrics || !plan->units || !plan->groups || !draft->items || !draft->item_of ||
        !draft->selection_of || !draft->event_of || !draft->bit_of)
        return -ENOMEM;
    for (size_t i = 0; i < n_events; i++)
        draft->bit_of[i] = -1;
    if (request->support)
        memcpy(plan->support, request->support, n_events);
    return 0;
}

static void draft_deinit(struct draft *draft) {
    free(draft->bit_of);
    free(draft->event_of);
    free(draft->selection_of);
    free(draft->item_of);
    free(draft->items);
}

static int draft_run(struct draft *draft) {
    struct plan *plan = draft->plan;
    int r = draft_select(draft);
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
    if (plan->n_units > 0)
        give_slots(draft);
    return plan_make_round(plan, draft->request->idle);
}

int plan_new(const struct plan_request *request, struct plan **out) {
    assert(request->slot_ns > 0 && request->idle >= 0 && request->idle <= 0.9);
    struct plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return -ENOMEM;
    struct draft draft;
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

struct plan *plan_free(struct plan *plan) {
    if (plan) {
        free(plan->round);
        for (size_t u = 0; u < plan->n_units; u++)
            free(plan->units[u].events);
        free(plan->units);
        for (size_t g = 0; g < plan->n_groups; g++)
            free(plan->groups[g].events);
        free(plan->groups);
        free(plan->metrics);
        free(plan->support);
        free(plan);
    }
    return NULL;
}
