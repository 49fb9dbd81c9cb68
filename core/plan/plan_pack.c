// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_pack.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/random.h"

// Each bin counts how many of its sets contain each event, so the cost of adding or removing a set is proportional to
// its events. Events that have counters of their own, whatever else is in the bin, do not count. If a bin contains a
// constrained event, its width tells only how full it is, and core/plan/fit.h decides whether it fits.

enum { SEARCH_STEPS_PER_SET = 500, NOISE_PERCENT = 1 };

struct pack_item { // a set that no other contains, as a list of its events that count
    unsigned set;
    unsigned *events;
    size_t n_events;
    unsigned width;
    bool constrained; // contains a constrained event (fit_is_constrained)
    unsigned bin;
};

struct packing {
    const struct plan_set *sets;
    const struct fit_pmu *pmu;
    const struct event_need *needs;
    unsigned widths[PLAN_PACK_EVENTS_MAX];  // general counters of each event
    bool constrained[PLAN_PACK_EVENTS_MAX]; // fit_is_constrained
    struct plan_set all_constrained;        // the constrained ones
    struct pack_item *items;
    size_t n_items;
    unsigned *container; // by set: itself, or a set that contains it
    unsigned *events;    // memory for the items' lists
    unsigned *users;     // [bin][event]: items that contain the event
    struct pack_bin {
        struct plan_set held;   // events with users
        unsigned width;         // of these
        unsigned n_constrained; // of these
        unsigned excess;        // by fit_excess
    } * bins;
    unsigned capacity;
    size_t n_bins;
    unsigned *best;    // bin of each item
    unsigned *item_of; // of each set that contains itself
    bool *placed;      // by pack_greedily
    struct plan_pack_work work;
    uint64_t random;
};

static bool set_has(const struct plan_set *set, unsigned event) { return set->words[event / 64] >> (event % 64) & 1; }

// Sets what each event needs. Events that can use the same fixed counter compete for it.
static void weigh_events(struct packing *p, size_t n) {
    struct plan_set all = {0};
    uint64_t liked = 0, contested = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
            all.words[w] |= p->sets[i].words[w];
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++) {
        if (!set_has(&all, e))
            continue;
        uint64_t fixed = fit_fixed(p->pmu, &p->needs[e]);
        contested |= liked & fixed;
        liked |= fixed;
    }
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++) {
        if (!set_has(&all, e))
            continue;
        p->widths[e] = fit_width(p->pmu, &p->needs[e]);
        p->constrained[e] =
            fit_is_constrained(p->pmu, &p->needs[e]) || (fit_fixed(p->pmu, &p->needs[e]) & contested) != 0;
        p->all_constrained.words[e / 64] |= (uint64_t)p->constrained[e] << (e % 64);
    }
}

static void fill_item(const struct packing *p, struct pack_item *item) {
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++) {
        if (!set_has(&p->sets[item->set], e) || (p->widths[e] == 0 && !p->constrained[e]))
            continue;
        item->events[item->n_events++] = e;
        item->width += p->widths[e];
        item->constrained = item->constrained || p->constrained[e];
    }
}

// A set that another contains follows it; the first of equal sets leads.
static void make_items(struct packing *p, size_t n) {
    const struct plan_set *sets = p->sets;
    unsigned *events = p->events;
    for (unsigned i = 0; i < n; i++) {
        p->container[i] = i;
        for (unsigned j = 0; j < n && p->container[i] == i; j++) {
            bool equal = plan_set_contains(&sets[i], &sets[j]);
            if (i != j && plan_set_contains(&sets[j], &sets[i]) && (!equal || j < i))
                p->container[i] = j;
        }
        if (p->container[i] != i)
            continue;
        struct pack_item *item = &p->items[p->n_items++];
        *item = (struct pack_item){.set = i, .events = events};
        fill_item(p, item);
        events += item->n_events;
    }
}

static unsigned *users_of(const struct packing *p, unsigned bin) { return p->users + bin * PLAN_PACK_EVENTS_MAX; }

static unsigned added(const struct packing *p, const struct pack_item *item, unsigned bin) {
    const unsigned *users = users_of(p, bin);
    unsigned n = 0;
    for (size_t i = 0; i < item->n_events; i++)
        n += users[item->events[i]] == 0 ? p->widths[item->events[i]] : 0;
    return n;
}

static bool may_ask(const struct packing *p) { return p->work.fits < PLAN_PACK_FITS_MAX; }

// The excess of a set of this width. A maximum once the budget of questions is used up.
static unsigned ask(struct packing *p, const struct plan_set *set, unsigned width) {
    unsigned events[PLAN_PACK_EVENTS_MAX];
    size_t n = 0;
    if (!may_ask(p))
        return PLAN_PACK_EVENTS_MAX;
    for (unsigned w = 0; w < PLAN_PACK_WORDS; w++) {
        for (uint64_t left = set->words[w] & p->all_constrained.words[w]; left != 0; left &= left - 1) {
            unsigned e = w * 64 + (unsigned)__builtin_ctzll(left);
            width -= p->widths[e];
            events[n++] = e;
        }
    }
    p->work.fits += (n + width) * (n + width);
    return fit_excess(p->pmu, p->needs, events, n, width);
}

static unsigned overflow(const struct packing *p, unsigned width) {
    return width > p->capacity ? width - p->capacity : 0;
}

// The bin's excess with the item's events (NULL: none) added, which make it `more` wider.
static unsigned excess_with(struct packing *p, unsigned bin, const struct pack_item *item, unsigned more) {
    const struct pack_bin *b = &p->bins[bin];
    if (b->n_constrained == 0 && !(item && item->constrained))
        return overflow(p, b->width + more);
    struct plan_set set = b->held;
    for (size_t w = 0; item && w < PLAN_PACK_WORDS; w++)
        set.words[w] |= p->sets[item->set].words[w];
    return ask(p, &set, b->width + more);
}

static void pack_put(struct packing *p, struct pack_item *item, unsigned bin) {
    unsigned *users = users_of(p, bin);
    struct pack_bin *b = &p->bins[bin];
    for (size_t i = 0; i < item->n_events; i++) {
        unsigned e = item->events[i];
        if (users[e]++ > 0)
            continue;
        b->width += p->widths[e];
        b->n_constrained += p->constrained[e];
        b->held.words[e / 64] |= UINT64_C(1) << (e % 64);
    }
    item->bin = bin;
    b->excess = excess_with(p, bin, NULL, 0);
}

static void take(struct packing *p, struct pack_item *item) {
    unsigned *users = users_of(p, item->bin);
    struct pack_bin *b = &p->bins[item->bin];
    for (size_t i = 0; i < item->n_events; i++) {
        unsigned e = item->events[i];
        if (--users[e] > 0)
            continue;
        b->width -= p->widths[e];
        b->n_constrained -= p->constrained[e];
        b->held.words[e / 64] &= ~(UINT64_C(1) << (e % 64));
    }
    b->excess = excess_with(p, item->bin, NULL, 0);
}

// The next item for the last bin: of those that fit, the one that adds the fewest events (the most to an empty bin),
// and of these the widest. NULL if none fits.
static struct pack_item *pick_next(struct packing *p) {
    unsigned bin = (unsigned)p->n_bins - 1, fewest = UINT_MAX;
    bool empty = p->bins[bin].width == 0 && p->bins[bin].n_constrained == 0;
    struct pack_item *next = NULL;
    for (size_t i = 0; i < p->n_items; i++) {
        struct pack_item *item = &p->items[i];
        if (p->placed[i])
            continue;
        unsigned more = empty ? 0 : added(p, item, bin);
        if (more > fewest || (more == fewest && item->width <= next->width))
            continue;
        // every set fits alone
        if (empty || (overflow(p, p->bins[bin].width + more) == 0 && excess_with(p, bin, item, more) == 0)) {
            next = item;
            fewest = more;
        }
    }
    return next;
}

// Fills one bin after the other with sets that belong together.
static void pack_greedily(struct packing *p) {
    for (size_t n = 0; n < p->n_items; n++) {
        struct pack_item *item = p->n_bins > 0 ? pick_next(p) : NULL;
        if (!item) {
            p->n_bins++;
            item = pick_next(p);
        }
        pack_put(p, item, (unsigned)p->n_bins - 1);
        p->placed[item - p->items] = true;
    }
}

static size_t bins_for(size_t n, size_t room) { return room > 0 ? (n + room - 1) / room : n; }

// The minimum number of bins for the events that only the counters of `mask` can count.
static size_t bins_for_mask(const struct packing *p, const bool *used, uint64_t mask) {
    size_t n = 0;
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++)
        n += used[e] && p->widths[e] == 1 && p->needs[e].counters != 0 && (p->needs[e].counters & ~mask) == 0;
    return bins_for(n, (size_t)__builtin_popcountll(mask));
}

// The minimum number of bins for the values of a shared register.
static size_t bins_for_register(const struct packing *p, const bool *used, unsigned reg) {
    size_t values = 0;
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++) {
        bool counts = used[e] && p->needs[e].reg == reg;
        for (unsigned other = 0; other < e && counts; other++)
            counts = !used[other] || p->needs[other].reg != reg || p->needs[other].reg_value != p->needs[e].reg_value;
        values += counts;
    }
    return p->pmu->registers[reg] > 0 ? bins_for(values, p->pmu->registers[reg]) : 1;
}

// The minimum number of bins for exclusive events.
static size_t bins_for_exclusive(const struct packing *p, const bool *used) {
    size_t n = 0;
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++)
        n += used[e] && fit_is_exclusive(p->pmu, &p->needs[e]);
    return n > 0 ? bins_for(n, fit_exclusive_limit(p->pmu)) : 1;
}

// A lower bound: no packing has fewer bins.
static size_t fewest_bins(const struct packing *p) {
    bool used[PLAN_PACK_EVENTS_MAX] = {0};
    size_t width = 0, most;
    for (size_t i = 0; i < p->n_items; i++)
        for (size_t e = 0; e < p->items[i].n_events; e++)
            used[p->items[i].events[e]] = true;
    most = bins_for_exclusive(p, used);
    for (unsigned e = 0; e < PLAN_PACK_EVENTS_MAX; e++) {
        width += used[e] ? p->widths[e] : 0;
        bool masked = used[e] && p->constrained[e] && p->needs[e].counters != 0;
        size_t bins = masked ? bins_for_mask(p, used, p->needs[e].counters) : 0;
        most = bins > most ? bins : most;
    }
    for (unsigned reg = 1; reg <= EVENT_REGISTERS_MAX; reg++) {
        size_t bins = bins_for_register(p, used, reg);
        most = bins > most ? bins : most;
    }
    return bins_for(width, p->capacity) > most ? bins_for(width, p->capacity) : most;
}

static void keep(struct packing *p) {
    for (size_t i = 0; i < p->n_items; i++)
        p->best[i] = p->items[i].bin;
}

// A random item of a bin that does not fit; NULL if all bins fit.
static struct pack_item *pick_misfit(struct packing *p) {
    struct pack_item *picked = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < p->n_items; i++)
        if (p->bins[p->items[i].bin].excess > 0 && random_below(&p->random, ++n) == 0)
            picked = &p->items[i];
    return picked;
}

// Cost of an item that changes a bin's excess from `now` to `excess` and its width by `more`.
static unsigned cost_of(unsigned excess, unsigned now, unsigned more) {
    return (excess > now ? excess - now : 0) * PLAN_PACK_EVENTS_MAX + more;
}

// The best bin to move an item to: the one with the least added excess, and of these the least added width.
static unsigned best_bin(struct packing *p, const struct pack_item *item, unsigned from) {
    if (random_below(&p->random, 100) < NOISE_PERCENT)
        return (unsigned)random_below(&p->random, p->n_bins);
    unsigned best = from, least = UINT_MAX;
    uint64_t ties = 0;
    for (unsigned bin = 0; bin < p->n_bins; bin++) {
        if (bin == from && p->n_bins > 1)
            continue;
        unsigned more = added(p, item, bin), now = p->bins[bin].excess;
        if (cost_of(overflow(p, p->bins[bin].width + more), now, more) > least)
            continue; // fit.h cannot return less
        unsigned cost = cost_of(excess_with(p, bin, item, more), now, more);
        if (cost > least)
            continue;
        ties = cost < least ? 1 : ties + 1;
        if (random_below(&p->random, ties) == 0)
            best = bin;
        least = cost;
    }
    return best;
}

// Tries to save a bin: empties the last one into the others and repairs. True if everything fits.
static bool search(struct packing *p) {
    p->n_bins--;
    for (size_t i = 0; i < p->n_items; i++) {
        if (p->items[i].bin != p->n_bins)
            continue;
        take(p, &p->items[i]);
        pack_put(p, &p->items[i], best_bin(p, &p->items[i], (unsigned)p->n_bins));
    }
    size_t steps = SEARCH_STEPS_PER_SET * p->n_items,
           most = PLAN_PACK_STEPS_MAX / p->n_items; // a step looks at all items
    for (size_t step = 0; step < (steps < most ? steps : most) && may_ask(p); step++) {
        struct pack_item *item = pick_misfit(p);
        if (!item)
            return true;
        unsigned from = item->bin;
        take(p, item);
        pack_put(p, item, best_bin(p, item, from));
        p->work.steps++;
    }
    return false;
}

static int packing_init(struct packing *p, const struct plan_set *sets, size_t n, const struct fit_pmu *pmu,
                        const struct event_need *needs) {
    unsigned reserved = pmu->reserved < pmu->general ? pmu->reserved : pmu->general;
    *p = (struct packing){.sets = sets,
                          .pmu = pmu,
                          .needs = needs,
                          .capacity = pmu->general > 0 ? pmu->general - reserved : UINT_MAX,
                          .items = calloc(n + 1, sizeof *p->items),
                          .container = calloc(n + 1, sizeof *p->container),
                          .events = calloc(n * PLAN_PACK_EVENTS_MAX + 1, sizeof *p->events),
                          .users = calloc((n + 1) * PLAN_PACK_EVENTS_MAX, sizeof *p->users),
                          .bins = calloc(n + 1, sizeof *p->bins),
                          .best = calloc(n + 1, sizeof *p->best),
                          .item_of = calloc(n + 1, sizeof *p->item_of),
                          .placed = calloc(n + 1, sizeof *p->placed)};
    return p->items && p->container && p->events && p->users && p->bins && p->best && p->item_of && p->placed ? 0
                                                                                                              : -ENOMEM;
}

static void packing_deinit(struct packing *p) {
    free(p->placed);
    free(p->item_of);
    free(p->best);
    free(p->bins);
    free(p->users);
    free(p->events);
    free(p->container);
    free(p->items);
}

// Assigns every set to the bin of the set that contains it.
static void write_bins(const struct packing *p, size_t n, unsigned *bins) {
    for (unsigned i = 0; i < p->n_items; i++)
        p->item_of[p->items[i].set] = i;
    for (size_t i = 0; i < n; i++) {
        unsigned leader = (unsigned)i;
        while (p->container[leader] != leader)
            leader = p->container[leader];
        bins[i] = p->best[p->item_of[leader]];
    }
}

int plan_pack(const struct plan_set *sets, size_t n, const struct fit_pmu *pmu, const struct event_need *needs,
              unsigned *bins, struct plan_pack_work *work) {
    struct packing p;
    int r = packing_init(&p, sets, n, pmu, needs);
    if (r == 0 && n > 0) {
        weigh_events(&p, n);
        make_items(&p, n);
        pack_greedily(&p);
        keep(&p);
        r = (int)p.n_bins;
        size_t fewest = fewest_bins(&p);
        while ((size_t)r > fewest && search(&p)) {
            keep(&p);
            r = (int)p.n_bins;
        }
        write_bins(&p, n, bins);
    }
    if (work && r >= 0)
        *work = p.work;
    packing_deinit(&p);
    return r;
}

// ---- sets that stay alone ----

// The set that contains set `i`: itself, or the first that is larger or equal.
static size_t container_of(const struct plan_set *sets, size_t n, size_t i) {
    size_t container = i;
    for (size_t j = 0; j < n && container == i; j++)
        if (j != i && plan_set_contains(&sets[j], &sets[i]) && (j < i || !plan_set_contains(&sets[i], &sets[j])))
            container = j;
    return container;
}

void plan_pack_apart(const struct plan_set *sets, size_t first, size_t n, unsigned n_bins, unsigned *bins) {
    for (size_t i = first; i < n; i++)
        if (container_of(sets, n, i) == i)
            bins[i] = n_bins++;
    for (size_t i = first; i < n; i++) {
        size_t container = i;
        while (container >= first && container_of(sets, n, container) != container)
            container = container_of(sets, n, container);
        bins[i] = bins[container];
    }
}
