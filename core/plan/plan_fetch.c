// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_fetch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/plan/plan_append.h"
#include "core/plan/plan_select.h"

// An event group in the making.
struct fetch_bin {
    struct plan_set set;
    bool alone; // its events run only without others (PLAN_FINDING_APART)
};

struct fetch {
    struct plan_draft *draft;
    struct fetch_bin bins[PLAN_FETCHED_GROUPS_MAX];
    size_t n_bins;
    int *bin_of; // of each item; -1: none
};

static void unite(struct plan_set *to, const struct plan_set *from) {
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        to->words[w] |= from->words[w];
}

static size_t count(const struct plan_set *set) {
    size_t n = 0;
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        n += (size_t)__builtin_popcountll(set->words[w]);
    return n;
}

// ---- where an item goes ----

static bool has_event(const unsigned *events, size_t n, unsigned event) {
    for (size_t i = 0; i < n; i++)
        if (events[i] == event)
            return true;
    return false;
}

static bool has_all(const struct plan_draft *draft, const struct plan_set *set, const unsigned *events, size_t n) {
    for (size_t bit = 0; bit < draft->n_events; bit++)
        if (plan_set_has(set, bit) && !has_event(events, n, draft->event_of[bit]))
            return false;
    return true;
}

// A unit of the selections that counts all events of the set in one event group; -1: none does.
static int find_unit(const struct plan_draft *draft, const struct plan_set *set) {
    const struct plan *plan = draft->plan;
    for (size_t u = 0; u < plan->n_units; u++)
        if (plan->units[u].n_groups == 1 && has_all(draft, set, plan->units[u].events, plan->units[u].n_events))
            return (int)u;
    return -1;
}

static size_t opened(const struct fetch *fetch) {
    size_t n = 0;
    for (size_t b = 0; b < fetch->n_bins; b++)
        n += count(&fetch->bins[b].set) + fetch->draft->n_carried;
    return n;
}

// The bin that gets the fewest events more; n_bins: none has room.
static size_t best_bin(const struct fetch *fetch, const struct plan_item *item) {
    size_t best = fetch->n_bins, fewest = PLAN_PACK_EVENTS_MAX;
    for (size_t b = 0; b < fetch->n_bins; b++) {
        struct plan_set all = fetch->bins[b].set;
        unite(&all, &item->set);
        size_t more = count(&all) - count(&fetch->bins[b].set);
        bool shares = more == 0 || (!fetch->bins[b].alone && item->finding == PLAN_FINDING_NONE);
        if (shares && more < fewest && plan_draft_fits(fetch->draft, &all, NULL)) {
            best = b;
            fewest = more;
        }
    }
    return best;
}

// False: there is no room.
static bool put(struct fetch *fetch, size_t index) {
    struct plan_draft *draft = fetch->draft;
    struct plan_item *item = &draft->items[index];
    fetch->bin_of[index] = -1;
    item->common = item->common && has_all(draft, &item->set, draft->carried, draft->n_carried);
    if (item->level1 || item->stands)
        return false;
    item->unit = item->common ? -1 : find_unit(draft, &item->set);
    if (item->common || item->unit >= 0)
        return true;
    size_t bin = best_bin(fetch, item);
    if (bin == fetch->n_bins) {
        if (bin == PLAN_FETCHED_GROUPS_MAX || bin >= draft->request->fetched_groups)
            return false;
        fetch->bins[fetch->n_bins++] = (struct fetch_bin){.alone = item->finding != PLAN_FINDING_NONE};
    }
    unite(&fetch->bins[bin].set, &item->set);
    fetch->bin_of[index] = (int)bin;
    return opened(fetch) <= draft->request->fetched_events;
}

// ---- one metric with all that it needs ----

static bool all_planned(const struct plan_draft *draft, size_t first) {
    const struct plan *plan = draft->plan;
    for (size_t i = first; i < plan->n_metrics; i++) {
        const struct formula *formula = draft->catalog->metrics[plan->metrics[i].metric].formula;
        if (plan->metrics[i].reason[0] != '\0')
            return false;
        for (size_t m = 0; m < formula->n_metrics; m++)
            if (plan->metrics[plan->place[formula->metrics[m]]].reason[0] != '\0')
                return false;
    }
    return true;
}

static void take_back(struct plan_draft *draft, size_t n_metrics, size_t n_items) {
    struct plan *plan = draft->plan;
    for (size_t i = n_metrics; i < plan->n_metrics; i++) {
        unsigned metric = plan->metrics[i].metric;
        plan->place[metric] = plan->place[catalog_metric_named(draft->catalog, metric)] = -1;
    }
    plan->n_metrics = n_metrics;
    draft->n_items = n_items;
}

// Adds a metric, or leaves everything as it was.
static void add(struct fetch *fetch, unsigned metric, unsigned selection) {
    struct plan_draft *draft = fetch->draft;
    struct plan *plan = draft->plan;
    struct fetch before = *fetch;
    size_t n_metrics = plan->n_metrics, n_items = draft->n_items;
    bool room = plan_select_metric(draft, metric, selection, 0, false) == 0 &&
                plan_select_needed(draft, n_metrics) == 0 && all_planned(draft, n_metrics);
    for (size_t i = n_items; i < draft->n_items && room; i++)
        room = put(fetch, i);
    for (size_t i = n_metrics; i < plan->n_metrics; i++)
        plan->metrics[i].fetched = true;
    if (!room) {
        *fetch = before;
        take_back(draft, n_metrics, n_items);
    }
}

static void fetch_metric(struct fetch *fetch, size_t i) {
    struct plan_draft *draft = fetch->draft;
    unsigned metric = catalog_metric_here(draft->catalog, draft->request->fetched[i].metric);
    int place = draft->plan->place[metric];
    if (place < 0) {
        add(fetch, metric, (unsigned)(draft->request->n_selections + i));
        return;
    }
    struct plan_metric *there = &draft->plan->metrics[place];
    there->fetched = there->fetched || there->auxiliary;
    there->auxiliary = false; // asked for by itself now
}

// ---- the whole ----

static int append_bins(struct fetch *fetch, size_t first_item) {
    struct plan_draft *draft = fetch->draft;
    for (size_t b = 0; b < fetch->n_bins; b++) {
        int unit = plan_append_unit(draft, &fetch->bins[b].set);
        int r = unit < 0 ? unit : plan_append_group(draft, (unsigned)unit, &fetch->bins[b].set);
        if (r < 0)
            return r;
        draft->plan->units[unit].n_groups = 1;
        for (size_t i = first_item; i < draft->n_items; i++)
            if (fetch->bin_of[i] == (int)b)
                draft->items[i].unit = unit;
    }
    return 0;
}

int plan_fetch(struct plan_draft *draft) {
    struct fetch fetch = {.draft = draft};
    size_t first_item = draft->n_items;
    draft->first_fetched = draft->end_fetched = (unsigned)draft->plan->n_units;
    if (draft->request->n_fetched == 0 || draft->request->apart || draft->request->boxes)
        return 0;
    fetch.bin_of = malloc((draft->catalog->n_metrics + 1) * sizeof *fetch.bin_of);
    if (!fetch.bin_of)
        return -ENOMEM;
    for (size_t i = 0; i < draft->request->n_fetched; i++)
        fetch_metric(&fetch, i);
    int r = append_bins(&fetch, first_item);
    draft->end_fetched = (unsigned)draft->plan->n_units;
    free(fetch.bin_of);
    return r < 0 ? r : plan_select_order(draft->plan);
}

// The number of the unit's metrics that are fetched as of the metric group.
static size_t count_of_group(const struct plan_draft *draft, unsigned unit, unsigned group) {
    const struct plan *plan = draft->plan;
    size_t n = 0;
    for (size_t i = 0; i < plan->n_metrics; i++)
        n += draft->selection_of[i] >= draft->request->n_selections && plan->metrics[i].unit == (int)unit &&
             draft->request->fetched[draft->selection_of[i] - draft->request->n_selections].group == group;
    return n;
}

const char *plan_fetch_subject(const struct plan_draft *draft, unsigned unit) {
    unsigned best = draft->request->fetched[0].group;
    size_t most = 0;
    for (size_t i = 0; i < draft->request->n_fetched; i++) {
        unsigned group = draft->request->fetched[i].group;
        size_t n = group == best && most > 0 ? 0 : count_of_group(draft, unit, group);
        if (n > most) {
            best = group;
            most = n;
        }
    }
    return draft->catalog->groups[best].name;
}

unsigned plan_fetch_room(const struct plan *plan, double idle, uint64_t round_ns) {
    const struct plan_unit *level1 =
        plan->level1_unit >= 0 && plan->level1_unit != plan->common_unit ? &plan->units[plan->level1_unit] : NULL;
    unsigned times = 0, slots = plan_slots(plan), level1_slots = level1 ? level1->slots * level1->n_groups : 0;
    for (size_t u = 0; u < plan->n_units; u++)
        if (plan->units[u].slots > 0 && (times == 0 || plan->units[u].slots < times))
            times = plan->units[u].slots; // a short round has all event groups several times
    if (times == 0)
        return 0; // nothing rotates
    double most = fmin((double)round_ns * (1 - idle) / (double)plan->slot_ns, slots / times * PLAN_FETCHED_GROWTH_MAX);
    double share = fmin((double)level1_slots / slots, 0.5); // of level 1, which keeps it
    unsigned room = (unsigned)(floor(most) * (1 - share)), others = (slots - level1_slots) / times;
    return room > others ? room - others : 0;
}
