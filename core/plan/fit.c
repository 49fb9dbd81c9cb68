// SPDX-License-Identifier: Apache-2.0
#include "core/plan/fit.h"

#include <limits.h>

// Most events can use any counter, so their number is all that matters; they take the counters that are left. The
// others ("pieces") are matched. Pieces that take several counters are tried at every possible place. For each such
// arrangement, the single pieces find theirs by augmenting paths: an event whose counters are all held asks their
// holders to move.
//
// A fixed counter that only one event can use belongs to that event. One that several can use is a node of the graph,
// like a general counter. Once held it stays held, so it always saves one general counter.

enum {
    PIECES_MAX = EVENT_COUNTERS_MAX + EVENT_FIXED_MAX, // more can never all find places
    TRIES_MAX = 256                                    // arrangements of the events that take several counters
};

_Static_assert(PIECES_MAX <= UINT8_MAX + 1, "a piece's number fits a byte");

struct piece {
    unsigned event;   // index into the needs
    unsigned takes;   // general counters
    uint64_t general; // counters it can use; if it takes several, the first of them
    uint64_t fixed;   // likewise
};

struct fitting {
    const struct fit_pmu *pmu;
    const struct event_need *needs;
    unsigned counters; // general ones with a number here
    struct piece pieces[PIECES_MAX];
    size_t n_pieces, n_wide;           // pieces that take several counters come first, equal ones adjacent
    unsigned used;                     // general counters needed by all events
    unsigned beyond;                   // pieces beyond PIECES_MAX
    bool exclusive;                    // one of the events is
    uint64_t contested;                // fixed counters that several events can use
    uint64_t fixed_held, general_held; // counters with a holder
    uint8_t fixed_holder[EVENT_FIXED_MAX], general_holder[EVENT_COUNTERS_MAX]; // the piece
    unsigned tries;
    size_t failed;                         // a single piece without a place in the last arrangement, counted from 1
    uint64_t failed_fixed, failed_general; // the counters it asked for, directly or through others
};

static uint64_t low_bits(unsigned n) { return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1; }

static unsigned takes_of(const struct event_need *need) {
    unsigned takes = need->takes > 0 ? need->takes : 1;
    return takes <= EVENT_COUNTERS_MAX ? takes : EVENT_COUNTERS_MAX + 1;
}

uint64_t fit_fixed(const struct fit_pmu *pmu, const struct event_need *need) {
    if (need->free || need->fixed < 0 || need->fixed >= EVENT_FIXED_MAX)
        return 0;
    return UINT64_C(1) << need->fixed & ~pmu->fixed_taken;
}

static unsigned counters_of(const struct fit_pmu *pmu) {
    return pmu->general < EVENT_COUNTERS_MAX ? pmu->general : EVENT_COUNTERS_MAX;
}

// The event's counters among the general counters `all`.
static uint64_t general_of(const struct event_need *need, uint64_t all) {
    return need->counters == 0 ? all : need->counters & all;
}

static bool any_counter_will_do(const struct event_need *need, uint64_t all) {
    return takes_of(need) == 1 && general_of(need, all) == all;
}

unsigned fit_width(const struct fit_pmu *pmu, const struct event_need *need) {
    return need->free || fit_fixed(pmu, need) != 0 ? 0 : takes_of(need);
}

bool fit_is_exclusive(const struct fit_pmu *pmu, const struct event_need *need) {
    return need->exclusive && pmu->hardware > 0 && fit_width(pmu, need) > 0;
}

bool fit_is_constrained(const struct fit_pmu *pmu, const struct event_need *need) {
    return need->reg != 0 || fit_is_exclusive(pmu, need) ||
           (pmu->general > 0 && fit_width(pmu, need) > 0 && !any_counter_will_do(need, low_bits(counters_of(pmu))));
}

static bool each_once(const unsigned *events, size_t n) {
    size_t i = 1;
    while (i < n && events[i - 1] < events[i])
        i++;
    return i >= n; // ascending, as they mostly are
}

static bool came_before(const unsigned *events, size_t i) {
    for (size_t j = 0; j < i; j++)
        if (events[j] == events[i])
            return true;
    return false;
}

// ---- registers ----

// True if an earlier event programs the same value.
static bool value_came_before(const struct event_need *needs, const unsigned *events, size_t i) {
    const struct event_need *need = &needs[events[i]];
    for (size_t j = 0; j < i; j++)
        if (needs[events[j]].reg == need->reg && needs[events[j]].reg_value == need->reg_value)
            return true;
    return false;
}

// The number of values too many over all registers; *why describes the first such register.
static unsigned register_excess(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events,
                                size_t n, struct fit_reason *why) {
    unsigned excess = 0, asked = 0; // registers, one bit each
    for (size_t i = 0; i < n; i++)
        asked |= 1U << needs[events[i]].reg;
    for (unsigned left = asked & ~1U; left != 0; left &= left - 1) { // 0 means none
        unsigned reg = (unsigned)__builtin_ctz(left);
        if (pmu->registers[reg] == 0)
            continue;
        struct fit_reason reason = {.cause = FIT_REGISTER, .available = pmu->registers[reg], .reg = reg};
        for (size_t i = 0; i < n; i++) {
            if (needs[events[i]].reg != reg || value_came_before(needs, events, i))
                continue;
            reason.needed++;
            if (reason.n < FIT_REASON_EVENTS_MAX)
                reason.events[reason.n++] = events[i];
        }
        if (reason.needed <= reason.available)
            continue;
        if (excess == 0 && why)
            *why = reason;
        excess += reason.needed - reason.available;
    }
    return excess;
}

// ---- counters ----

static bool is_wide(const struct piece *piece) { return piece->takes > 1; }

// Wide pieces first, and equal ones adjacent, so that swapping two is not another arrangement.
static bool comes_before(const struct piece *a, const struct piece *b) {
    if (a->takes != b->takes)
        return a->takes > b->takes;
    return is_wide(a) && a->general < b->general;
}

static void add_piece(struct fitting *f, const struct piece *piece) {
    if (f->n_pieces == PIECES_MAX) {
        f->beyond++;
        return;
    }
    size_t at = f->n_pieces++;
    for (; at > 0 && comes_before(piece, &f->pieces[at - 1]); at--)
        f->pieces[at] = f->pieces[at - 1];
    f->pieces[at] = *piece;
    f->n_wide += is_wide(piece);
}

static void fitting_init(struct fitting *f, const struct fit_pmu *pmu, const struct event_need *needs,
                         const unsigned *events, size_t n) {
    uint64_t liked = 0, all = low_bits(counters_of(pmu));
    f->pmu = pmu;
    f->needs = needs;
    f->counters = counters_of(pmu);
    f->n_pieces = f->n_wide = 0;
    f->used = f->beyond = 0;
    f->contested = 0;
    f->tries = TRIES_MAX;
    f->failed = 0;
    f->exclusive = false;
    bool once = each_once(events, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t fixed = fit_fixed(pmu, &needs[events[i]]);
        if (fixed != 0 && !once && came_before(events, i))
            continue;
        f->contested |= liked & fixed;
        liked |= fixed;
    }
    for (size_t i = 0; i < n; i++) {
        const struct event_need *need = &needs[events[i]];
        uint64_t fixed = fit_fixed(pmu, need);
        if (need->free || (fixed & ~f->contested) != 0 || (!once && came_before(events, i)))
            continue;
        unsigned takes = takes_of(need);
        f->used += takes;
        f->exclusive = f->exclusive || fit_is_exclusive(pmu, need);
        // a wide piece leaves a contested fixed counter to others
        if (pmu->general > 0 && (fixed != 0 || !any_counter_will_do(need, all)))
            add_piece(f, &(struct piece){.event = events[i],
                                         .takes = takes,
                                         .general = general_of(need, all),
                                         .fixed = takes == 1 ? fixed : 0});
    }
}

static void hold(uint64_t *held, uint8_t *holders, unsigned bit, size_t piece) {
    *held |= UINT64_C(1) << bit;
    holders[bit] = (uint8_t)piece;
}

// Takes a free general counter of `open` without asking others to move, unless one of them might move to a fixed
// counter.
static inline bool take_free(struct fitting *f, size_t piece, uint64_t open) {
    uint64_t free = f->pieces[piece].general & open & ~f->general_held;
    if (f->contested != 0 || free == 0)
        return false;
    hold(&f->general_held, f->general_holder, (unsigned)__builtin_ctzll(free), piece);
    return true;
}

// Finds a place for a single piece among the counters of `open`, moving others if necessary. `seen` are the counters
// already asked for. Returns false if there is none.
static bool augment(struct fitting *f, size_t piece, uint64_t open, uint64_t *seen_fixed, uint64_t *seen_general) {
    const struct piece *p = &f->pieces[piece];
    uint64_t left;
    while ((left = p->fixed & ~*seen_fixed) != 0) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        *seen_fixed |= UINT64_C(1) << bit;
        if ((f->fixed_held >> bit & 1) == 0 || augment(f, f->fixed_holder[bit], open, seen_fixed, seen_general)) {
            hold(&f->fixed_held, f->fixed_holder, bit, piece);
            return true;
        }
    }
    while ((left = p->general & open & ~*seen_general) != 0) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        size_t holder = f->general_holder[bit];
        *seen_general |= UINT64_C(1) << bit;
        if ((f->general_held >> bit & 1) == 0 || take_free(f, holder, open) ||
            augment(f, holder, open, seen_fixed, seen_general)) {
            hold(&f->general_held, f->general_holder, bit, piece);
            return true;
        }
    }
    return false;
}

// The number of pieces without a place if the wide ones hold `held`.
static unsigned match_singles(struct fitting *f, uint64_t held) {
    unsigned without = 0;
    f->fixed_held = f->general_held = 0;
    for (size_t i = f->n_wide; i < f->n_pieces; i++) {
        uint64_t seen_fixed = 0, seen_general = 0;
        if (take_free(f, i, ~held) || augment(f, i, ~held, &seen_fixed, &seen_general))
            continue;
        without++;
        f->failed = i + 1;
        f->failed_fixed = seen_fixed;
        f->failed_general = seen_general;
    }
    return without;
}

// The least number of pieces without a place, over the arrangements of the wide pieces from `i` on; those before hold
// `held`. A piece equal to the one before it is only placed after it, from counter `from` on.
static unsigned arrange(struct fitting *f, size_t i, uint64_t held, unsigned from) {
    if (i == f->n_wide) {
        f->tries -= f->tries > 0;
        return match_singles(f, held);
    }
    const struct piece *p = &f->pieces[i];
    bool equal = i > 0 && p->takes == p[-1].takes && p->general == p[-1].general;
    unsigned least = UINT_MAX;
    for (unsigned first = equal ? from : 0; first + p->takes <= f->counters; first += p->takes) {
        uint64_t place = low_bits(p->takes) << first;
        if ((p->general >> first & 1) == 0 || (held & place) != 0)
            continue;
        unsigned without = arrange(f, i + 1, held | place, first + p->takes);
        least = without < least ? without : least;
        if (least == 0 || f->tries == 0)
            return least;
    }
    return least < UINT_MAX ? least : 1 + arrange(f, i + 1, held, from);
}

static unsigned limit_of(const struct fit_pmu *pmu) {
    if (pmu->general == 0)
        return UINT_MAX;
    return pmu->reserved < pmu->general ? pmu->general - pmu->reserved : 0;
}

unsigned fit_exclusive_limit(const struct fit_pmu *pmu) {
    unsigned held = pmu->hardware > pmu->general ? pmu->hardware - pmu->general : 0, left = held + pmu->reserved;
    return left < pmu->hardware / 2 ? pmu->hardware / 2 - left : 0;
}

static unsigned limit_for(const struct fitting *f) {
    unsigned limit = limit_of(f->pmu), beside = fit_exclusive_limit(f->pmu);
    return f->exclusive && beside < limit ? beside : limit;
}

// General counters that the group uses: all that it needs minus those that a contested fixed counter saves.
static unsigned counters_used(const struct fitting *f) {
    return f->n_pieces > 0 ? f->used - (unsigned)__builtin_popcountll(f->fixed_held) : f->used;
}

static void fitting_run(struct fitting *f, unsigned *without, unsigned *missing) {
    unsigned limit = limit_for(f);
    *without = f->beyond + (f->n_pieces > 0 ? arrange(f, 0, 0, 0) : 0);
    unsigned used = counters_used(f);
    *missing = used > limit ? used - limit : 0;
}

unsigned fit_excess(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
                    unsigned others) {
    struct fitting f;
    unsigned without, missing;
    fitting_init(&f, pmu, needs, events, n);
    f.used += others;
    fitting_run(&f, &without, &missing);
    return without + missing + register_excess(pmu, needs, events, n, NULL);
}

unsigned fit_used(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n) {
    struct fitting f;
    unsigned without, missing;
    fitting_init(&f, pmu, needs, events, n);
    fitting_run(&f, &without, &missing);
    return counters_used(&f);
}

// Keeps events in order, so that the message does not depend on the path of the search.
static void reason_add(struct fit_reason *why, unsigned event) {
    if (why->n == FIT_REASON_EVENTS_MAX)
        return;
    size_t at = why->n++;
    for (; at > 0 && why->events[at - 1] > event; at--)
        why->events[at] = why->events[at - 1];
    why->events[at] = event;
}

// Names a piece without a place and the holders of all counters it asked for: one event more than there are counters.
static void explain_choice(const struct fitting *f, struct fit_reason *why) {
    *why = (struct fit_reason){.cause = FIT_CHOICE};
    if (f->failed == 0 || f->n_wide > 0) {
        why->cause = FIT_PLACE;
        for (size_t i = 0; i < f->n_pieces; i++) {
            why->needed += f->pieces[i].takes;
            reason_add(why, f->pieces[i].event);
        }
        why->available = f->counters;
        return;
    }
    why->available =
        (unsigned)__builtin_popcountll(f->failed_fixed) + (unsigned)__builtin_popcountll(f->failed_general);
    why->needed = why->available + 1;
    reason_add(why, f->pieces[f->failed - 1].event);
    for (unsigned i = 0; i < EVENT_FIXED_MAX; i++)
        if (f->failed_fixed >> i & 1)
            reason_add(why, f->pieces[f->fixed_holder[i]].event);
    for (unsigned i = 0; i < EVENT_COUNTERS_MAX; i++)
        if (f->failed_general >> i & 1)
            reason_add(why, f->pieces[f->general_holder[i]].event);
}

// Names the exclusive events, unless all events would be too many without them.
static void explain_counters(const struct fitting *f, const unsigned *events, size_t n, unsigned missing,
                             struct fit_reason *why) {
    unsigned needed = limit_for(f) + missing;
    *why = (struct fit_reason){.needed = needed, .available = limit_of(f->pmu)};
    if (needed > why->available)
        return;
    why->cause = FIT_EXCLUSIVE;
    why->available = limit_for(f);
    for (size_t i = 0; i < n; i++)
        if (fit_is_exclusive(f->pmu, &f->needs[events[i]]) && !came_before(events, i))
            reason_add(why, events[i]);
}

bool fit_check(const struct fit_pmu *pmu, const struct event_need *needs, const unsigned *events, size_t n,
               struct fit_reason *why) {
    struct fitting f;
    unsigned without, missing;
    if (register_excess(pmu, needs, events, n, why) > 0)
        return false;
    fitting_init(&f, pmu, needs, events, n);
    fitting_run(&f, &without, &missing);
    if (without == 0 && missing == 0)
        return true;
    if (why && missing > 0)
        explain_counters(&f, events, n, missing, why);
    else if (why)
        explain_choice(&f, why);
    return false;
}
