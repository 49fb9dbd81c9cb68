// SPDX-License-Identifier: Apache-2.0
#include "core/plan/plan_standing.h"

#include <errno.h>
#include <stdlib.h>

#include "core/plan/plan_append.h"

static void unite(struct plan_set *to, const struct plan_set *from) {
    for (size_t w = 0; w < PLAN_PACK_WORDS; w++)
        to->words[w] |= from->words[w];
}

static struct plan_set set_of(size_t bit) {
    struct plan_set set = {0};
    set.words[bit / 64] = UINT64_C(1) << (bit % 64);
    return set;
}

// True for a sum of counts, or so many counts a second: each may be counted in windows of its own.
static bool is_sum(const struct formula *formula) {
    const struct formula_sum *denominator = &formula->denominator;
    if (formula->is_ratio)
        return denominator->n == 1 && denominator->terms[0].variable == CATALOG_CPU_SECONDS;
    return formula->is_sum && formula->n_variables > 0 && formula->variables[0] != CATALOG_CPU_SECONDS;
}

bool plan_standing_spreads(const struct plan_draft *draft, unsigned metric, const struct plan_set *set) {
    const struct catalog_metric *of = &draft->catalog->metrics[metric];
    if (!draft->request->boxes || (of->traffic == TRAFFIC_NONE && !is_sum(of->formula)))
        return false;
    for (size_t bit = 0; bit < draft->n_events; bit++) {
        struct plan_set one = set_of(bit);
        if (plan_set_has(set, bit) && !plan_draft_fits(draft, &one, NULL))
            return false;
    }
    return true;
}

// ---- units ----

static int append_group(struct plan_draft *draft, int unit, const struct plan_set *set) {
    draft->plan->units[unit].n_groups++;
    return plan_append_group(draft, (unsigned)unit, set);
}

// Fills one event group after the other with the set's events, in their order.
static int append_spread(struct plan_draft *draft, int unit, const struct plan_set *set) {
    struct plan_set group = {0};
    int r = 0;
    for (size_t bit = 0; bit < draft->n_events && r == 0; bit++) {
        if (!plan_set_has(set, bit))
            continue;
        struct plan_set more = group, one = set_of(bit);
        unite(&more, &one);
        if (plan_draft_fits(draft, &more, NULL)) {
            group = more;
            continue;
        }
        r = append_group(draft, unit, &group);
        group = one;
    }
    return r < 0 ? r : append_group(draft, unit, &group);
}

// Appends the unit of all items of one bin, which are from packed[first] on.
static int append_bin(struct plan_draft *draft, struct plan_item *const *packed, const unsigned *bins, size_t first,
                      size_t n) {
    struct plan_set all = {0};
    for (size_t i = first; i < n; i++)
        if (bins[i] == bins[first])
            unite(&all, &packed[i]->set);
    int unit = plan_append_unit(draft, &all);
    for (size_t i = first; i < n && unit >= 0; i++)
        if (bins[i] == bins[first])
            packed[i]->unit = unit;
    return unit < 0 ? unit : append_spread(draft, unit, &all);
}

// ---- bins ----

// Lists the items that stand, those that fit an event group first. Returns their number.
static size_t list_items(struct plan_draft *draft, struct plan_set *sets, struct plan_item **packed, size_t *n_fit) {
    size_t n = 0;
    for (int fits = 1; fits >= 0; fits--) {
        for (size_t i = 0; i < draft->n_items; i++) {
            struct plan_item *item = &draft->items[i];
            if (!item->stands || plan_draft_fits(draft, &item->set, NULL) != (fits == 1))
                continue;
            sets[n] = item->set;
            packed[n++] = item;
        }
        *n_fit = fits == 1 ? n : *n_fit;
    }
    return n;
}

// Gives each item a bin: those that fit share the fewest, any other has one of its own.
static int choose_bins(const struct plan_draft *draft, const struct plan_set *sets, size_t n_fit, size_t n,
                       unsigned *bins) {
    int n_bins = n_fit > 0 ? 1 : 0;
    if (draft->request->boxes && n_fit > 0)
        n_bins = plan_pack(sets, n_fit, &draft->pmu, draft->needs, bins, NULL);
    for (size_t i = n_fit; i < n && n_bins >= 0; i++)
        bins[i] = (unsigned)n_bins++;
    return n_bins < 0 ? n_bins : 0;
}

int plan_standing_append(struct plan_draft *draft) {
    struct plan_set *sets = calloc(draft->n_items + 1, sizeof *sets);
    struct plan_item **packed = calloc(draft->n_items + 1, sizeof *packed);
    unsigned *bins = calloc(draft->n_items + 1, sizeof *bins);
    int r = sets && packed && bins ? 0 : -ENOMEM;
    size_t n_fit = 0, n = r == 0 ? list_items(draft, sets, packed, &n_fit) : 0;
    draft->first_standing = (unsigned)draft->plan->n_units;
    if (r == 0)
        r = choose_bins(draft, sets, n_fit, n, bins);
    for (size_t i = 0; i < n && r == 0; i++)
        if (packed[i]->unit < 0)
            r = append_bin(draft, packed, bins, i, n);
    free(bins);
    free(packed);
    free(sets);
    return r;
}
