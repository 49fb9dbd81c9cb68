// SPDX-License-Identifier: Apache-2.0
#include "core/plan_pack.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"

// Each bin counts how many of its sets hold each event, so that adding and removing a set costs as much as the set has
// events. Events with counters of their own do not count.

enum { SEARCH_STEPS_PER_SET = 2000, SEARCH_WORK_MAX = 100000000, NOISE_PERCENT = 5 };

struct pack_item { // a set that no other contains, as a list of events that need a general counter
    unsigned set;
    unsigned *events;
    size_t n_events;
    unsigned bin;
};

struct packing {
    struct pack_item *items;
    size_t n_items;
    unsigned *container; // of each set: itself, or a set that contains it
    unsigned *events;    // memory of the items' lists
    unsigned *users;     // [bin][event]: items that hold the event
    unsigned *width;     // [bin]: events with users
    unsigned capacity;
    size_t n_bins;
    unsigned *best; // bin of each item
    bool *placed;   // by pack_greedily
    uint64_t random;
};

static bool set_has(const struct plan_set *set, unsigned event) { return set->words[event / 64] >> (event % 64) & 1; }

static bool set_contains(const struct plan_set *outer, const struct plan_set *inner) {
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        if (inner->words[w] & ~outer->words[w])
            return false;
    return true;
}

// Sets that another one contains follow it; of equal ones the first leads.
static void make_items(struct packing *p, const struct plan_set *sets, size_t n, const struct plan_set *fixed) {
    unsigned *events = p->events;
    for (unsigned i = 0; i < n; i++) {
        p->container[i] = i;
        for (unsigned j = 0; j < n && p->container[i] == i; j++) {
            bool equal = set_contains(&sets[i], &sets[j]);
            if (i != j && set_contains(&sets[j], &sets[i]) && (!equal || j < i))
                p->container[i] = j;
        }
        if (p->container[i] != i)
            continue;
        struct pack_item *item = &p->items[p->n_items++];
        *item = (struct pack_item){.set = i, .events = events};
        for (unsigned event = 0; event < PLAN_PACK_EVENTS_MAX; event++)
            if (set_has(&sets[i], event) && !set_has(fixed, event))
                item->events[item->n_events++] = event;
        events += item->n_events;
    }
}

static unsigned *users_of(const struct packing *p, unsigned bin) { return p->users + bin * PLAN_PACK_EVENTS_MAX; }

static void put(struct packing *p, struct pack_item *item, unsigned bin) {
    unsigned *users = users_of(p, bin);
    for (size_t i = 0; i < item->n_events; i++)
        p->width[bin] += users[item->events[i]]++ == 0;
    item->bin = bin;
}

static void take(struct packing *p, struct pack_item *item) {
    unsigned *users = users_of(p, item->bin);
    for (size_t i = 0; i < item->n_events; i++)
        p->width[item->bin] -= --users[item->events[i]] == 0;
}

static unsigned added(const struct packing *p, const struct pack_item *item, unsigned bin) {
    const unsigned *users = users_of(p, bin);
    unsigned n = 0;
    for (size_t i = 0; i < item->n_events; i++)
        n += users[item->events[i]] == 0;
    return n;
}

static unsigned overflow(const struct packing *p, unsigned bin) {
    return p->width[bin] > p->capacity ? p->width[bin] - p->capacity : 0;
}

// The item that comes next in the last bin: of those that fit, the one that adds the fewest events (the most to an
// empty bin), and of these the widest. NULL where none fits.
static struct pack_item *pick_next(struct packing *p) {
    unsigned bin = (unsigned)p->n_bins - 1, fewest = UINT_MAX;
    struct pack_item *next = NULL;
    for (size_t i = 0; i < p->n_items; i++) {
        struct pack_item *item = &p->items[i];
        if (p->placed[i])
            continue;
        unsigned more = p->width[bin] > 0 ? added(p, item, bin) : 0;
        if (p->width[bin] + more > p->capacity)
            continue;
        if (more < fewest || (more == fewest && item->n_events > next->n_events)) {
            next = item;
            fewest = more;
        }
    }
    return next;
}

// One bin after the other, each filled with what belongs together.
static void pack_greedily(struct packing *p) {
    for (size_t n = 0; n < p->n_items; n++) {
        struct pack_item *item = p->n_bins > 0 ? pick_next(p) : NULL;
        if (!item) {
            p->n_bins++;
            item = pick_next(p);
        }
        put(p, item, (unsigned)p->n_bins - 1);
        p->placed[item - p->items] = true;
    }
}

static size_t fewest_bins(const struct packing *p) {
    unsigned used[PLAN_PACK_EVENTS_MAX] = {0}, distinct = 0;
    for (size_t i = 0; i < p->n_items; i++)
        for (size_t e = 0; e < p->items[i].n_events; e++)
            distinct += used[p->items[i].events[e]]++ == 0;
    size_t bins = (distinct + p->capacity - 1) / p->capacity;
    return bins > 0 ? bins : 1;
}

static void keep(struct packing *p) {
    for (size_t i = 0; i < p->n_items; i++)
        p->best[i] = p->items[i].bin;
}

// An item of a bin that is too wide, picked at random; NULL where none is.
static struct pack_item *pick_misfit(struct packing *p) {
    struct pack_item *picked = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < p->n_items; i++)
        if (overflow(p, p->items[i].bin) > 0 && random_below(&p->random, ++n) == 0)
            picked = &p->items[i];
    return picked;
}

// The bin that an item is best moved to: where the widths exceed the capacity least, and of these where it adds least.
static unsigned best_bin(struct packing *p, const struct pack_item *item, unsigned from) {
    if (random_below(&p->random, 100) < NOISE_PERCENT)
        return (unsigned)random_below(&p->random, p->n_bins);
    unsigned best = from, least = UINT_MAX;
    uint64_t ties = 0;
    for (unsigned bin = 0; bin < p->n_bins; bin++) {
        if (bin == from && p->n_bins > 1)
            continue;
        unsigned more = added(p, item, bin), width = p->width[bin] + more;
        unsigned cost =
            (width > p->capacity ? width - p->capacity - overflow(p, bin) : 0) * PLAN_PACK_EVENTS_MAX + more;
        if (cost > least)
            continue;
        ties = cost < least ? 1 : ties + 1;
        if (random_below(&p->random, ties) == 0)
            best = bin;
        least = cost;
    }
    return best;
}

// Tries to do with one bin less: empties the last one into the others and repairs. True where everything fits.
static bool search(struct packing *p) {
    p->n_bins--;
    for (size_t i = 0; i < p->n_items; i++) {
        if (p->items[i].bin != p->n_bins)
            continue;
        take(p, &p->items[i]);
        put(p, &p->items[i], best_bin(p, &p->items[i], (unsigned)p->n_bins));
    }
    size_t steps = SEARCH_STEPS_PER_SET * p->n_items, most = SEARCH_WORK_MAX / p->n_items; // a step looks at all items
    for (size_t step = 0; step < (steps < most ? steps : most); step++) {
        struct pack_item *item = pick_misfit(p);
        if (!item)
            return true;
        unsigned from = item->bin;
        take(p, item);
        put(p, item, best_bin(p, item, from));
    }
    return false;
}

static int packing_init(struct packing *p, size_t n, unsigned general_counters) {
    *p = (struct packing){.capacity = general_counters > 0 ? general_counters : PLAN_PACK_EVENTS_MAX,
                          .items = calloc(n + 1, sizeof *p->items),
                          .container = calloc(n + 1, sizeof *p->container),
                          .events = calloc(n * PLAN_PACK_EVENTS_MAX + 1, sizeof *p->events),
                          .users = calloc((n + 1) * PLAN_PACK_EVENTS_MAX, sizeof *p->users),
                          .width = calloc(n + 1, sizeof *p->width),
                          .best = calloc(n + 1, sizeof *p->best),
                          .placed = calloc(n + 1, sizeof *p->placed)};
    return p->items && p->container && p->events && p->users && p->width && p->best && p->placed ? 0 : -ENOMEM;
}

static void packing_deinit(struct packing *p) {
    free(p->placed);
    free(p->best);
    free(p->width);
    free(p->users);
    free(p->events);
    free(p->container);
    free(p->items);
}

// Every set goes where the one that contains it is.
static void write_bins(const struct packing *p, size_t n, unsigned *bins) {
    unsigned *item_of = p->width; // done with, and as long
    for (unsigned i = 0; i < p->n_items; i++)
        item_of[p->items[i].set] = i;
    for (size_t i = 0; i < n; i++) {
        unsigned leader = (unsigned)i;
        while (p->container[leader] != leader)
            leader = p->container[leader];
        bins[i] = p->best[item_of[leader]];
    }
}

int plan_pack(const struct plan_set *sets, size_t n, const struct plan_set *fixed, unsigned general_counters,
              unsigned *bins) {
    struct packing p;
    int r = packing_init(&p, n, general_counters);
    if (r == 0 && n > 0) {
        make_items(&p, sets, n, fixed);
        pack_greedily(&p);
        keep(&p);
        r = (int)p.n_bins;
        while ((size_t)r > fewest_bins(&p) && search(&p)) {
            keep(&p);
            r = (int)p.n_bins;
        }
        write_bins(&p, n, bins);
    }
    packing_deinit(&p);
    return r;
}
