// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_unseen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"

static const double LEVERAGE_MAX = 0.5; // a round that makes more of the mean than that is the mean
static const double WINDOWS_MIN = 1.5;  // effective windows: fewer are one, and a part of another
// A core that is held has long windows while it sleeps, and two that are alike may both have missed what woke it.
static const double HELD_WINDOWS_MIN = 3;

static void lay_out(void *self, struct block *block) {
    struct estimate_sizes *sizes = self;
    size_t units = sizes->rows->n_units;
    sizes->same = block_take(block, units * units, sizeof *sizes->same);
    sizes->first_same = block_take(block, units + 1, sizeof *sizes->first_same);
    sizes->sizes = block_take(block, sizes->n_batches * units, sizeof *sizes->sizes);
    sizes->all = block_take(block, sizes->n_blocks * units, sizeof *sizes->all);
    sizes->asleep = block_take(block, sizes->n_blocks * units, sizeof *sizes->asleep);
    sizes->unseen = block_take(block, units, sizeof *sizes->unseen);
}

// ---- the event that measures a unit's size ----

// The weight of a count that covers a share of the time: the inverse of a number proportional to its variance. A count
// that covers all the time decides alone.
static double weight_of(double share) { return share / lanes_max(1 - share, 1e-6); }

// How well other units know how often an event happened.
static double told_by_others(const struct rows *rows, size_t u, unsigned event) {
    double weight = 0;
    for (size_t other = 0; other < rows->n_units; other++)
        if (other != u && rows_place(rows, other, event) > 0)
            weight += weight_of(plan_share(rows->plan, (unsigned)other));
    return weight;
}

static void find_same(struct estimate_sizes *sizes, size_t u, size_t *n) {
    const struct rows *rows = sizes->rows;
    const struct plan_unit *unit = &rows->plan->units[u];
    double most = 0;
    size_t best = unit->n_events;
    for (size_t i = 0; i < unit->n_events; i++) {
        double told = plan_is_field(rows->plan, unit->events[i]) ? 0 : told_by_others(rows, u, unit->events[i]);
        best = told > most ? i : best;
        most = fmax(told, most);
    }
    if (best == unit->n_events)
        return;
    sizes->same[(*n)++] = (struct estimate_same){u, rows_place_in_unit(rows, u, unit->events[best])};
    for (size_t other = 0; other < rows->n_units; other++) {
        size_t place = rows_place_in_unit(rows, other, unit->events[best]);
        if (other != u && place > 0)
            sizes->same[(*n)++] = (struct estimate_same){other, place};
    }
}

struct estimate_sizes *estimate_sizes_new(const struct rows *rows, size_t n_batches, size_t n_blocks) {
    struct estimate_sizes sizes = {.rows = rows, .n_batches = n_batches, .n_blocks = n_blocks};
    struct estimate_sizes *made = block_new(&sizes, sizeof sizes, lay_out);
    size_t n = 0;
    if (!made)
        return NULL;
    for (size_t u = 0; u < rows->n_units; u++) {
        made->first_same[u] = n;
        find_same(made, u, &n);
    }
    made->first_same[rows->n_units] = n;
    return made;
}

struct estimate_sizes *estimate_sizes_free(struct estimate_sizes *sizes) {
    free(sizes);
    return NULL;
}

void estimate_sizes_forget(struct estimate_sizes *sizes, size_t first) {
    size_t n = (sizes->n_batches - first) * sizes->rows->n_units;
    memset(estimate_sizes_row(sizes, first), 0, n * sizeof *sizes->sizes);
}

// ---- a round ----

static struct lanes *all_of(const struct estimate_sizes *sizes, size_t block, size_t unit) {
    return &sizes->all[block * sizes->rows->n_units + unit];
}

static struct lanes *asleep_of(const struct estimate_sizes *sizes, size_t block, size_t unit) {
    return &sizes->asleep[block * sizes->rows->n_units + unit];
}

// Which part of a unit's counts of an event in a block of CPUs is of their sleep. A core that wakes is found awake when
// the slot ends, so the long windows of a round in which it was awake hold the beginning of that: what they have more
// than sleep counts in their time. Events differ in that.
static struct lanes asleep_part(const struct estimate_rounds *rounds, const struct estimate_strata *strata,
                                size_t block, size_t u, size_t place) {
    const struct estimate_cell *cell = estimate_rounds_cell(rounds, block, u);
    const struct lanes *now = &estimate_rounds_now(rounds, block, u)[place], *awake = &rounds->awake[block];
    struct lanes parts = lanes_all(0);
    if (!lanes_some(&cell->slept))
        return parts;
    double rate = estimate_strata_rate_asleep(strata, u, place);
    for (size_t l = 0; l < LANES; l++) {
        double part = rate * cell->slept.of[l] / now->of[l];
        bool mixed = awake->of[l] > 0 && rate >= 0 && part < 1;
        parts.of[l] = !(cell->slept.of[l] > 0) ? 0 : mixed ? part : 1;
    }
    return parts;
}

// Finds the count that measures a unit's size in a block of CPUs, the mean of all units that count it, and the part of
// it while the cores slept.
static void find_all(const struct estimate_sizes *sizes, const struct estimate_rounds *rounds,
                     const struct estimate_strata *strata, size_t block, size_t u) {
    struct lanes sum = lanes_all(0), slept = lanes_all(0), weights = lanes_all(0);
    for (size_t i = sizes->first_same[u]; i < sizes->first_same[u + 1]; i++) {
        const struct estimate_same *same = &sizes->same[i];
        struct estimate_cell *cell = estimate_rounds_cell(rounds, block, same->unit);
        const struct lanes *now = &estimate_rounds_now(rounds, block, same->unit)[same->place];
        struct lanes asleep = asleep_part(rounds, strata, block, same->unit, same->place);
        if (same->unit == u)
            cell->asleep = asleep;
        for (size_t l = 0; l < LANES; l++) {
            double weight = weight_of(cell->share.of[l]);
            sum.of[l] += now->of[l] * weight;
            slept.of[l] += now->of[l] * weight * asleep.of[l];
            weights.of[l] += weight;
        }
    }
    for (size_t l = 0; l < LANES; l++) {
        double mean = sum.of[l] / weights.of[l], asleep = slept.of[l] / weights.of[l];
        sum.of[l] = weights.of[l] > 0 ? mean : 0;
        slept.of[l] = weights.of[l] > 0 ? asleep : 0;
    }
    *all_of(sizes, block, u) = sum;
    *asleep_of(sizes, block, u) = slept;
}

void estimate_sizes_take_round(struct estimate_sizes *sizes, const struct estimate_rounds *rounds,
                               const struct estimate_strata *strata) {
    for (size_t block = 0; block < sizes->n_blocks; block++)
        for (size_t u = 0; u < sizes->rows->n_units; u++)
            find_all(sizes, rounds, strata, block, u);
}

// The counts of a unit's CPUs in this round.
struct size_now {
    struct lanes own, all, own_asleep, all_asleep; // as in struct estimate_size
    struct lanes data;                             // above 0: some CPU has data
    struct lanes shares;                           // sum of the CPUs' covered shares of time
    struct lanes differs; // above 0: some CPU has a previous round too, and the scope's cores have the differences
};

// Of one block of CPUs, each for itself.
static struct size_now size_of_cpus(const struct estimate_sizes *sizes, const struct estimate_batch *batch,
                                    size_t block, size_t u) {
    const struct estimate_cell *cell = estimate_rounds_cell(batch->rounds, block, u);
    size_t place = sizes->same[sizes->first_same[u]].place;
    struct lanes now = estimate_rounds_now(batch->rounds, block, u)[place], all = *all_of(sizes, block, u);
    struct lanes asleep = cell->asleep, all_asleep = *asleep_of(sizes, block, u);
    struct lanes before = estimate_rounds_before(batch->rounds, block, u)[place], differences;
    struct lanes share = cell->share, covered = batch->first ? lanes_all(-1) : cell->covered;
    struct lanes uncovered = cell->uncovered;
    struct size_now size;
    for (size_t l = 0; l < LANES; l++) {
        double difference = (now.of[l] - before.of[l]) * uncovered.of[l];
        size.own.of[l] = share.of[l] > 0 ? now.of[l] : 0;
        size.all.of[l] = share.of[l] > 0 ? all.of[l] : 0;
        size.own_asleep.of[l] = share.of[l] > 0 ? now.of[l] * asleep.of[l] : 0;
        size.all_asleep.of[l] = share.of[l] > 0 ? all_asleep.of[l] : 0;
        size.data.of[l] = share.of[l] > 0 ? 1 : 0;
        size.shares.of[l] = share.of[l] > 0 ? share.of[l] : 0;
        size.differs.of[l] = covered.of[l] >= 0 ? 1 : 0;
        differences.of[l] = covered.of[l] >= 0 ? difference : 0;
    }
    batch->cores->differences[block] = differences;
    return size;
}

static struct size_now size_of(const struct estimate_sizes *sizes, const struct estimate_batch *batch, size_t u) {
    struct lanes none = lanes_all(0);
    struct size_now sum = {none, none, none, none, none, none, none};
    struct estimate_part part;
    size_t at = 0;
    if (batch->of_cpus)
        return size_of_cpus(sizes, batch, batch->block, u);
    while (estimate_batch_next(batch, &at, &part)) {
        struct size_now size = size_of_cpus(sizes, batch, part.block, u);
        lanes_add_product(&sum.own, &size.own, &part.in);
        lanes_add_product(&sum.all, &size.all, &part.in);
        lanes_add_product(&sum.own_asleep, &size.own_asleep, &part.in);
        lanes_add_product(&sum.all_asleep, &size.all_asleep, &part.in);
        lanes_add_product(&sum.data, &size.data, &part.in);
        lanes_add_product(&sum.shares, &size.shares, &part.in);
        lanes_add_product(&sum.differs, &size.differs, &part.in);
    }
    return (struct size_now){estimate_batch_join(batch, &sum.own),        estimate_batch_join(batch, &sum.all),
                             estimate_batch_join(batch, &sum.own_asleep), estimate_batch_join(batch, &sum.all_asleep),
                             estimate_batch_join(batch, &sum.data),       estimate_batch_join(batch, &sum.shares),
                             estimate_batch_join(batch, &sum.differs)};
}

// The windows of a core in a round are one observation. Finds the roots of what they add to the sum of squares: their
// square, and if a held core was on the same window at the end of its previous round, what both have to do with each
// other.
static struct lanes roots_of(const struct estimate_batch *batch, size_t block, size_t u, size_t place) {
    const struct estimate_cell *cell = estimate_rounds_cell(batch->rounds, block, u);
    struct lanes now = estimate_rounds_now(batch->rounds, block, u)[place], share = cell->share, roots;
    struct lanes before = estimate_rounds_before(batch->rounds, block, u)[place];
    struct lanes had = batch->first ? lanes_all(0) : cell->share_before;
    struct lanes held = batch->rounds->held[block];
    for (size_t l = 0; l < LANES; l++) {
        double both = had.of[l] > 0 ? 2 * held.of[l] * now.of[l] * before.of[l] : 0;
        double root = sqrt(now.of[l] * now.of[l] + both);
        roots.of[l] = share.of[l] > 0 ? root : 0;
    }
    return roots;
}

// The sum of the windows' squared counts. Those of SMT siblings are the same windows.
static struct lanes squares_of(const struct estimate_sizes *sizes, const struct estimate_batch *batch, size_t u) {
    struct estimate_part part;
    size_t at = 0;
    while (estimate_batch_next(batch, &at, &part))
        batch->cores->differences[part.block] = roots_of(batch, part.block, u, sizes->same[sizes->first_same[u]].place);
    struct lanes squares = estimate_batch_variance(batch).variance;
    for (size_t l = 0; l < LANES; l++)
        squares.of[l] *= 2;
    return squares;
}

// Finds how much of the scopes' means the differences of their CPUs make; `weight`: of this round in the means.
static void find_leverages(const struct estimate_sizes *sizes, const struct estimate_batch *batch, size_t u,
                           const struct estimate_size *size, const struct lanes *weight) {
    size_t at = 0, place = sizes->same[sizes->first_same[u]].place;
    struct estimate_part part;
    while (estimate_batch_next(batch, &at, &part)) {
        size_t block = part.block;
        struct lanes now = estimate_rounds_now(batch->rounds, block, u)[place], own = size->own, by = *weight, unfitted;
        struct lanes before = estimate_rounds_before(batch->rounds, block, u)[place];
        for (size_t l = 0; l < LANES; l++) {
            double made = fabs(now.of[l] - before.of[l]) * by.of[l] / own.of[l];
            made = made < LEVERAGE_MAX ? made : LEVERAGE_MAX;
            unfitted.of[l] = own.of[l] > 0 ? 1 / (1 - made) : 1;
        }
        estimate_rounds_cell(batch->rounds, block, u)->unfitted = unfitted;
    }
}

// The effective number of windows; 0: they are too few, where they count as many more as they leave less unseen.
static struct lanes windows_of(const struct estimate_batch *batch, const struct estimate_size *size,
                               const struct size_now *now) {
    struct lanes held = batch->of_cpus ? batch->rounds->held[batch->block] : lanes_all(0);
    struct lanes windows;
    for (size_t l = 0; l < LANES; l++) {
        double least = held.of[l] > 0 ? HELD_WINDOWS_MIN : WINDOWS_MIN;
        double share = now->data.of[l] > 0 ? now->shares.of[l] / now->data.of[l] : 0, own = size->own.of[l];
        double squares = size->squares.of[l] * size->square_weights.of[l];
        double number = squares > 0 ? own * own / squares : own > 0 ? INFINITY : 0;
        windows.of[l] = number < least * (1 - share) ? 0 : number;
    }
    return windows;
}

// The share of `all` that is missing from `own` by more than `error`.
static double missed(double own, double all, double error) {
    double share = lanes_max(all - own - error, 0) / all;
    return all > 0 ? share : 0;
}

// How far off the share is of what happened while the cores slept. The time in which a CPU was awake is known, whatever
// counted in it.
static struct lanes strata_of(const struct estimate_batch *batch, const struct size_now *of, const struct lanes *awake,
                              double rate) {
    struct lanes off;
    for (size_t l = 0; l < LANES; l++) {
        double own = of->own.of[l], asleep = of->all_asleep.of[l];
        double rest = batch->of_cpus && rate > 0 ? rate * awake->of[l] : of->all.of[l] - asleep;
        double by = fabs(of->own_asleep.of[l] / own - asleep / (asleep + rest));
        off.of[l] = own > 0 && asleep + rest > 0 ? by : 0;
    }
    return off;
}

// The rounds that tell strata apart: above 0 in lanes with data. A core is not held before it is known to sleep: its
// first window ends with the slot, as if it had been awake. So those of a single CPU begin with a later round.
static struct lanes held_so_far(const struct estimate_batch *batch, const struct estimate_size *size,
                                const struct lanes *data) {
    struct lanes begun = *data;
    for (size_t l = 0; l < LANES && batch->of_cpus; l++)
        if (size->held_rounds.of[l] == 0 && (size->rounds.of[l] < 2 || !(batch->rounds->held[batch->block].of[l] > 0)))
            begun.of[l] = 0;
    return begun;
}

static struct estimate_unseen take_unit(struct estimate_sizes *sizes, const struct estimate_batch *batch,
                                        const struct estimate_strata *strata, size_t u) {
    struct estimate_size *size = &estimate_sizes_row(sizes, batch->index)[u];
    double rate = estimate_strata_rate(strata, u, sizes->same[sizes->first_same[u]].place);
    struct lanes squares = squares_of(sizes, batch, u);
    struct lanes awake = batch->of_cpus ? batch->rounds->awake[batch->block] : lanes_all(0);
    struct size_now now = size_of(sizes, batch, u);
    struct estimate_variance of_round = estimate_batch_variance(batch);
    struct lanes weight = estimate_weigh(&size->rounds, &now.data, batch->memory_rounds);
    estimate_move(&size->own, &now.own, &weight);
    estimate_move(&size->all, &now.all, &weight);
    struct lanes begun = held_so_far(batch, size, &now.data);
    struct lanes held = estimate_weigh(&size->held_rounds, &begun, batch->memory_rounds);
    estimate_move(&size->held_own, &now.own, &held);
    estimate_move(&size->own_asleep, &now.own_asleep, &held);
    estimate_move(&size->all_asleep, &now.all_asleep, &held);
    estimate_move(&size->awake, &awake, &held);
    struct size_now usual = {
        .own = size->held_own, .all = size->all, .own_asleep = size->own_asleep, .all_asleep = size->all_asleep};
    estimate_move(&size->squares, &squares, &weight);
    estimate_move_weights2(&size->square_weights, &weight);
    find_leverages(sizes, batch, u, size, &weight);
    weight = estimate_weigh(&size->differences, &now.differs, batch->memory_rounds);
    estimate_move_weights2(&size->weights2, &weight);
    estimate_move(&size->variance, &of_round.variance, &weight);
    struct estimate_unseen unseen = {.windows = windows_of(batch, size, &now),
                                     .round_strata = strata_of(batch, &now, &awake, rate),
                                     .mean_strata = strata_of(batch, &usual, &size->awake, rate)};
    for (size_t l = 0; l < LANES; l++) {
        double error = sqrt(size->variance.of[l]);
        // the stretch already covers a round with merely small counts
        double round = missed(now.own.of[l], now.all.of[l], 2 * error);
        double mean = missed(size->own.of[l], size->all.of[l], error * sqrt(size->weights2.of[l]));
        unseen.round.of[l] = now.differs.of[l] > 0 ? round : 0;
        unseen.mean.of[l] = now.differs.of[l] > 0 ? mean : 0;
    }
    return unseen;
}

void estimate_sizes_take_batch(struct estimate_sizes *sizes, const struct estimate_batch *batch,
                               const struct estimate_strata *strata) {
    for (size_t u = 0; u < sizes->rows->n_units; u++) {
        bool told = sizes->first_same[u + 1] > sizes->first_same[u];
        sizes->unseen[u] = told ? take_unit(sizes, batch, strata, u) : estimate_nothing_unseen();
    }
}
