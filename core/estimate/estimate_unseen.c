// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_unseen.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

static const double LEVERAGE_MAX = 0.5; // a round that makes more of the mean than that is the mean

static void lay_out(void *self, struct block *block) {
    struct estimate_sizes *sizes = self;
    size_t units = sizes->rows->n_units;
    sizes->same = block_take(block, units * units, sizeof *sizes->same);
    sizes->first_same = block_take(block, units + 1, sizeof *sizes->first_same);
    sizes->sizes = block_take(block, sizes->n_scopes * units, sizeof *sizes->sizes);
    sizes->all = block_take(block, sizes->n_cpus * units, sizeof *sizes->all);
    sizes->unseen = block_take(block, units, sizeof *sizes->unseen);
}

// ---- the event that measures a unit's size ----

// The weight of a count that covers a share of the time: the inverse of a number proportional to its variance. A count
// that covers all the time decides alone.
static double weight_of(double share) { return share / fmax(1 - share, 1e-6); }

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
        double told = estimate_is_field(rows->plan, unit->events[i]) ? 0 : told_by_others(rows, u, unit->events[i]);
        best = told > most ? i : best;
        most = fmax(told, most);
    }
    if (best == unit->n_events)
        return;
    sizes->same[(*n)++] = (struct estimate_same){u, rows_place(rows, u, unit->events[best])};
    for (size_t other = 0; other < rows->n_units; other++) {
        size_t place = rows_place(rows, other, unit->events[best]);
        if (other != u && place > 0)
            sizes->same[(*n)++] = (struct estimate_same){other, place};
    }
}

struct estimate_sizes *estimate_sizes_new(const struct rows *rows, size_t n_scopes, size_t n_cpus) {
    struct estimate_sizes sizes = {.rows = rows, .n_scopes = n_scopes, .n_cpus = n_cpus};
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

// ---- a round ----

static double *all_of(const struct estimate_sizes *sizes, size_t cpu, size_t unit) {
    return &sizes->all[cpu * sizes->rows->n_units + unit];
}

void estimate_sizes_take_round(struct estimate_sizes *sizes, const struct estimate_rounds *rounds) {
    for (size_t cpu = 0; cpu < sizes->n_cpus; cpu++) {
        const double *now = estimate_rounds_now(rounds, cpu);
        for (size_t u = 0; u < sizes->rows->n_units; u++) {
            double sum = 0, weights = 0;
            for (size_t i = sizes->first_same[u]; i < sizes->first_same[u + 1]; i++) {
                const struct estimate_same *same = &sizes->same[i];
                double weight = weight_of(estimate_rounds_cell(rounds, cpu, same->unit)->share);
                sum += now[same->place] * weight;
                weights += weight;
            }
            *all_of(sizes, cpu, u) = weights > 0 ? sum / weights : 0;
        }
    }
}

// The share of `all` that is missing from `own` by more than `error`.
static double missed(double own, double all, double error) { return all > 0 ? fmax(all - own - error, 0) / all : 0; }

// The counts of a unit's CPUs in this round.
struct size_now {
    double own, all; // as in struct estimate_size
    double squares;  // sum of the windows' squared counts
    double share;    // of time, that windows covered
    bool data;       // some CPU has data
    bool differs;    // some CPU has a previous round, and the scope's cores have the differences
};

// The windows of a core in a round are one observation: its square, and if a held core was on the same window at the
// end of its previous round, what both have to do with each other.
static double squared_count(const struct estimate_rounds *rounds, size_t cpu, const struct estimate_cell *cell,
                            size_t place) {
    double now = estimate_rounds_now(rounds, cpu)[place];
    double before = cell->share_before > 0 ? estimate_rounds_before(rounds, cpu)[place] : 0;
    return now * now + 2 * rounds->held[cpu] * now * before;
}

// Adds up the windows' squares by core: the windows of SMT siblings are the same.
static double squares_of(const struct estimate_scope *of, size_t u, size_t place) {
    double squares;
    for (size_t c = 0; c < of->in.n; c++) {
        size_t cpu = of->in.cpus[c];
        const struct estimate_cell *cell = estimate_rounds_cell(of->rounds, cpu, u);
        if (cell->share > 0)
            estimate_cores_add(of->cores, cpu, sqrt(squared_count(of->rounds, cpu, cell, place)), 0);
    }
    return 2 * estimate_cores_take(of->cores, of->in, &squares);
}

static struct size_now add_cpus(const struct estimate_sizes *sizes, const struct estimate_scope *of, size_t u) {
    size_t place = sizes->same[sizes->first_same[u]].place;
    struct size_now size = {.squares = squares_of(of, u, place)};
    double n = 0;
    for (size_t c = 0; c < of->in.n; c++) {
        size_t cpu = of->in.cpus[c];
        const struct estimate_cell *cell = estimate_rounds_cell(of->rounds, cpu, u);
        double now = estimate_rounds_now(of->rounds, cpu)[place];
        if (!(cell->share > 0))
            continue;
        size.data = true;
        size.share += (cell->share - size.share) / ++n;
        size.own += now;
        size.all += *all_of(sizes, cpu, u);
        if (!(cell->share_before > 0))
            continue;
        size.differs = true;
        estimate_cores_add(of->cores, cpu, now - estimate_rounds_before(of->rounds, cpu)[place],
                           (cell->share_before + cell->share) / 2);
    }
    return size;
}

// Finds how much of the scope's mean the differences of its CPUs make; `scale`: the part that one count makes.
static void find_leverages(const struct estimate_sizes *sizes, const struct estimate_scope *of, size_t u,
                           double scale) {
    size_t place = sizes->same[sizes->first_same[u]].place;
    for (size_t c = 0; c < of->in.n; c++) {
        size_t cpu = of->in.cpus[c];
        double is = estimate_rounds_now(of->rounds, cpu)[place], was = estimate_rounds_before(of->rounds, cpu)[place];
        estimate_rounds_cell(of->rounds, cpu, u)->leverage = fmin(fabs(is - was) * scale, LEVERAGE_MAX);
    }
}

// The effective number of windows, as many more as they leave less unseen.
static double windows_of(const struct estimate_size *size, double share) {
    double squares = size->squares * size->square_weights * (1 - share);
    return squares > 0 ? size->own * size->own / squares : size->own > 0 ? INFINITY : 0;
}

static struct estimate_unseen take_unit(struct estimate_sizes *sizes, const struct estimate_scope *of, size_t u) {
    struct estimate_size *size = &sizes->sizes[of->scope * sizes->rows->n_units + u];
    struct size_now now = add_cpus(sizes, of, u);
    double squares, variance = estimate_cores_take(of->cores, of->in, &squares);
    if (!now.data)
        return (struct estimate_unseen){0, 0, 0};
    double weight = estimate_weight(++size->rounds, of->memory_rounds);
    size->own += weight * (now.own - size->own);
    find_leverages(sizes, of, u, size->own > 0 ? weight / size->own : 0);
    size->all += weight * (now.all - size->all);
    size->squares += weight * (now.squares - size->squares);
    size->square_weights = estimate_weights2(size->square_weights, weight);
    double windows = windows_of(size, now.share);
    if (!now.differs)
        return (struct estimate_unseen){0, 0, windows};
    weight = estimate_weight(++size->differences, of->memory_rounds);
    size->weights2 = estimate_weights2(size->weights2, weight);
    size->variance += weight * (variance - size->variance);
    double error = sqrt(size->variance);
    // the stretch already covers a round with merely small counts
    return (struct estimate_unseen){.round = missed(now.own, now.all, 2 * error),
                                    .mean = missed(size->own, size->all, error * sqrt(size->weights2)),
                                    .windows = windows};
}

void estimate_sizes_take_scope(struct estimate_sizes *sizes, const struct estimate_scope *of) {
    for (size_t u = 0; u < sizes->rows->n_units; u++) {
        bool told = sizes->first_same[u + 1] > sizes->first_same[u];
        sizes->unseen[u] = told ? take_unit(sizes, of, u) : (struct estimate_unseen){0, 0, INFINITY};
    }
}
