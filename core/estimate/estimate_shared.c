// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_shared.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

// A slope through fewer differences that carry it explains them by itself.
static const double DIFFERENCES_MIN = 3;

// Counts are whole, in windows of a million and more, and sums of them and of their squares are rounded: an event that
// differs by less than this part of itself did not change, and what else did has nothing to do with it.
static const double RESOLVED = 1e-6;

// Fewer tell slopes, and how alike CPUs are, too badly: there, rounds tell as of a unit that shares nothing.
enum { CPUS_MIN = 4 };

// How much CPUs differ in the variance of a slot's count of an event in a round, relative to the square of its mean.
struct alike {
    double mean, degrees; // over CPUs; of freedom of the mean
    double own;           // the part that a CPU's own variance has; the rest has the mean
};

struct estimate_shared {
    const struct rows *rows;
    size_t n_blocks;
    struct shared_events *events;
    struct estimate_in_common *common; // [unit]
    struct alike *alike;               // [event]
    double *products;                  // [value of a row]: mean over rounds of the sum of products of differences
    double *fourths;                   // [unit]: likewise, of the fourth powers of those of the event
    double rounds;
    struct lanes *signed_counts; // [counter][CELL_SIGNS][block]: with the signs of slots, less those of an even count
};

static void lay_out(void *self, struct block *block) {
    struct estimate_shared *shared = self;
    size_t counters = shared_events_counters(shared->events);
    shared->common = block_take(block, shared->rows->n_units, sizeof *shared->common);
    shared->alike = block_take(block, shared->events->n_events, sizeof *shared->alike);
    shared->products = block_take(block, shared->rows->n_values, sizeof *shared->products);
    shared->fourths = block_take(block, shared->rows->n_units, sizeof *shared->fourths);
    shared->signed_counts = block_take(block, counters * CELL_SIGNS * shared->n_blocks, sizeof *shared->signed_counts);
}

struct estimate_shared *estimate_shared_new(const struct rows *rows, size_t n_cpus) {
    struct estimate_shared shared = {.rows = rows, .n_blocks = lanes_blocks(n_cpus), .events = shared_events_new(rows)};
    struct estimate_shared *made = shared.events ? block_new(&shared, sizeof shared, lay_out) : NULL;
    if (!made)
        shared_events_free(shared.events);
    for (size_t u = 0; made && u < rows->n_units && n_cpus >= CPUS_MIN; u++)
        made->common[u].place = made->events->places[u];
    return made;
}

struct estimate_shared *estimate_shared_free(struct estimate_shared *shared) {
    if (shared)
        shared_events_free(shared->events);
    free(shared);
    return NULL;
}

// ---- how units differ ----

// Sums over the units that count an event, by their slots: of their counts of it, and of the squares.
struct sums {
    struct lanes sum, squares, slots, n;
};

static void add_unit(struct sums *sums, const struct lanes *in, const struct lanes *x, double k) {
    for (size_t l = 0; l < LANES; l++) {
        double weight = in->of[l] > 0 ? k : 0;
        sums->sum.of[l] += weight * x->of[l];
        sums->squares.of[l] += weight * x->of[l] * x->of[l];
        sums->slots.of[l] += weight;
        sums->n.of[l] += weight > 0 ? 1 : 0;
    }
}

// The variance of a slot's count, relative to the square of its mean; NaN: fewer than two units tell.
static struct lanes variance_of(const struct sums *sums) {
    struct lanes variance;
    for (size_t l = 0; l < LANES; l++) {
        double mean = sums->sum.of[l] / sums->slots.of[l];
        double rest = lanes_max(sums->squares.of[l] - sums->sum.of[l] * mean, 0) / (sums->n.of[l] - 1);
        variance.of[l] = sums->n.of[l] > 1 && mean > 0 ? rest / (mean * mean) : NAN;
    }
    return variance;
}

// Of a block of CPUs that are not held.
static struct sums sums_of_cpus(const struct estimate_shared *shared, const struct estimate_rounds *rounds,
                                size_t block, size_t event) {
    struct sums sums = {lanes_all(0), lanes_all(0), lanes_all(0), lanes_all(0)};
    for (size_t i = shared->events->first[event]; i < shared->events->first[event + 1]; i++) {
        const struct shared_counter *counter = &shared->events->counters[i];
        struct lanes in = estimate_rounds_cell(rounds, block, counter->unit)->share;
        for (size_t l = 0; l < LANES; l++)
            in.of[l] = rounds->held[block].of[l] > 0 ? 0 : in.of[l];
        add_unit(&sums, &in, &estimate_rounds_now(rounds, block, counter->unit)[counter->place],
                 shared->rows->plan->units[counter->unit].slots);
    }
    return sums;
}

// The CPUs of the batch with data of a unit.
static struct lanes cpus_with(const struct estimate_batch *batch, size_t u) {
    struct lanes n = lanes_all(0);
    struct estimate_part part;
    size_t at = 0;
    while (estimate_batch_next(batch, &at, &part)) {
        const struct lanes *share = &estimate_rounds_cell(batch->rounds, part.block, u)->share;
        for (size_t l = 0; l < LANES; l++)
            n.of[l] += share->of[l] > 0 ? part.in.of[l] : 0;
    }
    return estimate_batch_join(batch, &n);
}

static bool some_held(const struct estimate_batch *batch) {
    struct lanes held = estimate_batch_sum(batch, batch->rounds->held, 1);
    return lanes_some(&held);
}

// Of a scope, from units that as many CPUs have counted as unit u.
static struct sums sums_of_scope(const struct estimate_shared *shared, const struct estimate_batch *batch,
                                 const struct estimate_means *means, size_t u) {
    struct sums sums = {lanes_all(0), lanes_all(0), lanes_all(0), lanes_all(0)};
    struct lanes cpus = cpus_with(batch, u);
    size_t event = shared->events->of_unit[u];
    for (size_t i = shared->events->first[event]; i < shared->events->first[event + 1]; i++) {
        const struct shared_counter *counter = &shared->events->counters[i];
        size_t at = rows_first(shared->rows, counter->unit) + counter->place;
        struct lanes in = cpus_with(batch, counter->unit);
        for (size_t l = 0; l < LANES; l++)
            in.of[l] = in.of[l] == cpus.of[l] ? in.of[l] : 0;
        add_unit(&sums, &in, &estimate_means_sums(means)[at], shared->rows->plan->units[counter->unit].slots);
    }
    return sums;
}

// ---- a round ----

// Takes the counts of a CPU with the signs of slots in. A count that is the same in all slots adds nothing.
static void take_signed(struct estimate_shared *shared, const struct estimate_rounds *rounds, const struct cells *cells,
                        size_t cpu, size_t i, double mean) {
    size_t u = shared->events->counters[i].unit, counters = shared_events_counters(shared->events);
    size_t block = cpu / LANES, l = cpu % LANES;
    double seconds = estimate_rounds_now(rounds, block, u)[0].of[l];
    bool data = estimate_rounds_cell(rounds, block, u)->share.of[l] > 0 && !(rounds->held[block].of[l] > 0);
    for (size_t k = 0; k < CELL_SIGNS; k++) {
        double even = mean / seconds * cells_at(cells, cpu, u)->signed_seconds[k];
        double rest = cells->signed_counts[(cpu * counters + i) * CELL_SIGNS + k] - even;
        shared->signed_counts[(i * CELL_SIGNS + k) * shared->n_blocks + block].of[l] =
            data ? rest * cells_factor(cells, cpu, u, seconds) : 0;
    }
}

static void take_event(struct estimate_shared *shared, const struct estimate_rounds *rounds, const struct cells *cells,
                       size_t event) {
    struct alike *alike = &shared->alike[event];
    double n = 0, sum = 0, squares = 0, degrees = 0;
    for (size_t block = 0; block < rounds->n_blocks; block++) {
        struct sums sums = sums_of_cpus(shared, rounds, block, event);
        struct lanes variance = variance_of(&sums);
        for (size_t l = 0; l < LANES && block * LANES + l < rounds->n_cpus; l++)
            for (size_t i = shared->events->first[event]; i < shared->events->first[event + 1]; i++)
                if (cells->times[block * LANES + l].fresh)
                    take_signed(shared, rounds, cells, block * LANES + l, i, sums.sum.of[l] / sums.slots.of[l]);
        for (size_t l = 0; l < LANES; l++) {
            if (isnan(variance.of[l]))
                continue;
            n++;
            sum += variance.of[l];
            squares += variance.of[l] * variance.of[l];
            degrees += sums.n.of[l] - 1;
        }
    }
    double q = degrees / n, differ = squares * n / (sum * sum) / (1 + 2 / q) - 1;
    *alike = (struct alike){sum / n, degrees, differ > 0 ? differ / (differ + 2 / q * (1 + differ)) : 0};
}

// How much a count changed; 0: by no more than what is not resolved.
static double changed(double now, double before) { return fabs(now - before) > RESOLVED * now ? now - before : 0; }

// Adds the products of a CPU block's differences of a unit's values with those of its event to `sums`. Returns the sum
// of the fourth powers of the latter.
static double add_products(const struct estimate_rounds *rounds, size_t block, size_t u, size_t place, double *sums) {
    const struct lanes *now = estimate_rounds_now(rounds, block, u), *before = estimate_rounds_before(rounds, block, u);
    const struct lanes *covered = &estimate_rounds_cell(rounds, block, u)->covered;
    struct lanes event;
    double fourths = 0;
    for (size_t l = 0; l < LANES; l++)
        event.of[l] = covered->of[l] >= 0 ? changed(now[place].of[l], before[place].of[l]) : 0;
    for (size_t i = 1, n = rows_n(rounds->rows, u); i < n; i++) {
        double sum = 0;
        for (size_t l = 0; l < LANES; l++)
            sum += event.of[l] != 0 ? (now[i].of[l] - before[i].of[l]) * event.of[l] : 0;
        sums[i] += sum;
    }
    for (size_t l = 0; l < LANES; l++)
        fourths += event.of[l] * event.of[l] * event.of[l] * event.of[l];
    return fourths;
}

static void move_slopes(struct estimate_shared *shared, const struct estimate_rounds *rounds, size_t u, double weight) {
    struct estimate_in_common *common = &shared->common[u];
    double *mean = shared->products + rows_first(shared->rows, u);
    size_t n = rows_n(shared->rows, u);
    double squares, fourths = 0;
    for (size_t i = 1; i < n; i++)
        mean[i] *= (1 - weight) / weight;
    for (size_t block = 0; block < rounds->n_blocks; block++)
        fourths += add_products(rounds, block, u, common->place, mean);
    for (size_t i = 1; i < n; i++)
        mean[i] *= weight;
    shared->fourths[u] += weight * (fourths - shared->fourths[u]);
    squares = mean[common->place];
    common->weight = squares > 0 ? weight / squares : 0;
    common->sloped = squares * squares > DIFFERENCES_MIN * weight * shared->fourths[u] && squares > 0;
}

void estimate_shared_take_round(struct estimate_shared *shared, const struct estimate_rounds *rounds,
                                const struct cells *cells, double memory_rounds) {
    shared->rounds++;
    double weight = 1 / (shared->rounds < memory_rounds ? shared->rounds : memory_rounds);
    for (size_t u = 0; u < shared->rows->n_units; u++)
        if (shared->common[u].place > 0)
            move_slopes(shared, rounds, u, weight);
    for (size_t event = 0; event < shared->events->n_events; event++)
        take_event(shared, rounds, cells, event);
}

// ---- a batch ----

// The variance of a CPU's slot is drawn to that of all.
static void draw(const struct alike *alike, struct lanes *variance, struct lanes *degrees) {
    for (size_t l = 0; l < LANES; l++) {
        double own = alike->own, more = degrees->of[l] / own;
        variance->of[l] = own * variance->of[l] + (1 - own) * alike->mean;
        degrees->of[l] = more < alike->degrees ? more : alike->degrees;
    }
}

// What idle pieces hide of what the units of an event have in common, with the signs of slots.
static double hidden_of(const struct estimate_shared *shared, const struct estimate_batch *batch, size_t event,
                        size_t k) {
    double sum = 0, squares = 0, n = 0, cohorts = estimate_steps_cohorts(batch->steps);
    for (size_t i = shared->events->first[event]; i < shared->events->first[event + 1]; i++, n++) {
        struct lanes all =
            estimate_batch_sum(batch, shared->signed_counts + (i * CELL_SIGNS + k) * shared->n_blocks, 1);
        sum += all.of[0];
        squares += all.of[0] * all.of[0];
    }
    return (sum * sum - squares) / (n * (n - 1)) * cohorts * plan_idle_share(shared->rows->plan);
}

static void find_common(struct estimate_shared *shared, const struct estimate_batch *batch,
                        const struct estimate_means *means, size_t u) {
    struct estimate_in_common *common = &shared->common[u];
    size_t event = shared->events->of_unit[u];
    struct sums sums = batch->of_cpus ? sums_of_cpus(shared, batch->rounds, batch->block, event)
                                      : sums_of_scope(shared, batch, means, u);
    struct lanes variance = variance_of(&sums);
    for (size_t l = 0; l < LANES; l++)
        common->degrees.of[l] = sums.n.of[l] - 1;
    if (batch->of_cpus)
        draw(&shared->alike[event], &variance, &common->degrees);
    for (size_t l = 0; l < LANES; l++) {
        double mean = batch->of_cpus || !some_held(batch) ? sums.sum.of[l] / sums.slots.of[l] : NAN;
        common->within.of[l] = variance.of[l] * mean * mean / shared->rows->plan->units[u].slots;
    }
    for (size_t k = 0; k < CELL_SIGNS; k++)
        common->hidden[k] = lanes_all(batch->of_cpus ? 0 : hidden_of(shared, batch, event, k));
}

void estimate_shared_take_batch(struct estimate_shared *shared, const struct estimate_batch *batch,
                                const struct estimate_means *means) {
    for (size_t u = 0; u < shared->rows->n_units; u++)
        if (shared->common[u].place > 0)
            find_common(shared, batch, means, u);
}

const struct estimate_in_common *estimate_shared_of(const struct estimate_shared *shared, size_t unit) {
    return &shared->common[unit];
}

double estimate_shared_slope(const struct estimate_shared *shared, size_t unit, size_t place) {
    const double *mean = shared->products + rows_first(shared->rows, unit);
    return shared->common[unit].sloped ? mean[place] / mean[shared->common[unit].place] : 0;
}
