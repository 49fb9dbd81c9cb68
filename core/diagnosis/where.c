// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/where.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"
#include "core/base/median.h"
#include "core/diagnosis/around.h"
#include "core/diagnosis/diagnosis.h"
#include "core/diagnosis/where_parts.h"

#define OF_NORMAL 1.4826     // standard deviation of a normal distribution, by its median distance from the median
#define WITHOUT_INTERVAL 2.  // times as far, in a snapshot that stands alone
#define MEMBERS_ABOVE 0.75   // of a core or a socket
#define TAIL 0.025           // beyond either end of a 95 % interval
#define NORMAL_95 1.95996398 // standard errors that it extends to either side

enum { ROUNDS = 3, ROUNDS_SEEN = 2, ALL_SEEN = 7 };

// ---- making ----

// By how much 95 % intervals are wider if they are to hold for n units together: Bonferroni, of a normal distribution.
static double widening(size_t n) {
    double low = 0, high = 10;
    for (int i = 0; i < 50 && n > 0; i++) {
        double middle = (low + high) / 2;
        if (erfc(middle / sqrt(2)) / 2 > TAIL / (double)n)
            low = middle;
        else
            high = middle;
    }
    return n > 0 ? high / NORMAL_95 : 1;
}

static void lay_out(void *self, struct block *block) {
    struct where *where = self;
    where->units = block_take(block, where->n_units, sizeof *where->units);
    where->values = block_take(block, where->n_units, sizeof *where->values);
    where->below = block_take(block, where->n_units, sizeof *where->below);
    where->above = block_take(block, where->n_units, sizeof *where->above);
    where->weights = block_take(block, where->n_units, sizeof *where->weights);
    where->sorted = block_take(block, where->n_units, sizeof *where->sorted);
}

static struct where_level level_of(size_t first, size_t n, bool measured, size_t least, double above) {
    return (struct where_level){
        .first = first, .n = measured && n >= least ? n : 0, .above = above, .widening = widening(n)};
}

static void name_units(struct where *where) {
    const struct topology *topology = where->layout->topology;
    for (size_t u = 0; u < where->n_units; u++)
        where->units[u] = (struct where_unit){.found = -1, .told = -1, .suspect = -1};
    for (size_t c = topology->n_cpus; c-- > 0;) { // a core has the number of its first CPU
        where->units[c].id = topology->cpus[c].id;
        where->units[where->first_core + topology->cpus[c].core].id = topology->cpus[c].id;
    }
    for (size_t s = 0; s < topology->n_sockets; s++)
        where->units[where->first_socket + s].id = topology->sockets[s].id;
}

struct where *where_new(const struct snapshot_layout *layout, bool alone) {
    const struct topology *topology = layout->topology;
    size_t cpus = topology->n_cpus, cores = topology->n_cores, sockets = topology->n_sockets;
    bool cores_too = cores < cpus;
    struct where where = {.layout = layout,
                          .alone = alone,
                          .first_core = cpus,
                          .first_socket = cpus + cores,
                          .n_units = cpus + cores + sockets};
    where.levels[OUTLIERS_CPU] = level_of(0, cpus, true, WHERE_CPUS_MIN, WHERE_ABOVE);
    where.levels[OUTLIERS_CORE] = level_of(cpus, cores, cores_too, WHERE_CPUS_MIN, WHERE_ABOVE);
    where.levels[OUTLIERS_SOCKET] = level_of(cpus + cores, sockets, true, WHERE_SOCKETS_MIN, WHERE_ABOVE_SOCKET);
    struct where *made = block_new(&where, sizeof where, lay_out);
    if (made)
        name_units(made);
    return made;
}

struct where *where_free(struct where *where) {
    free(where);
    return NULL;
}

static int same_metric(const struct catalog *catalog, int metric, const struct catalog *other) {
    return metric < 0 || catalog == other ? metric : catalog_find_metric(other, catalog->metrics[metric].name);
}

// The unit of another host's level with the same number, which mostly has the same place; NULL: none.
static const struct where_unit *find_unit(const struct where_unit *units, size_t n, size_t place, unsigned id) {
    if (place < n && units[place].id == id)
        return &units[place];
    for (size_t u = 0; u < n; u++)
        if (units[u].id == id)
            return &units[u];
    return NULL;
}

void where_continue(struct where *where, const struct where *old) {
    const struct catalog *catalog = where->layout->catalog, *before = old->layout->catalog;
    for (int l = 0; l < OUTLIERS_UNIT_N; l++) {
        const struct where_level *level = &where->levels[l], *from = &old->levels[l];
        for (size_t i = 0; i < level->n; i++) {
            struct where_unit *unit = &where->units[level->first + i];
            const struct where_unit *was = find_unit(&old->units[from->first], from->n, i, unit->id);
            if (!was)
                continue;
            *unit = *was;
            unit->told = same_metric(before, was->told, catalog);
            unit->suspect = same_metric(before, was->suspect, catalog);
        }
    }
}

// ---- the values of a metric ----

static double value_of(const struct snapshot *snapshot, size_t scope, size_t place) {
    return snapshot->values[snapshot_metric(snapshot->layout, scope, place)];
}

static void take_interval(struct where *where, size_t unit, const struct snapshot *snapshot, size_t scope,
                          size_t place) {
    const struct snapshot_layout *layout = snapshot->layout;
    where->below[unit] = where->values[unit] - snapshot->values[snapshot_low(layout, scope, place)];
    where->above[unit] = snapshot->values[snapshot_high(layout, scope, place)] - where->values[unit];
}

// Reads a metric of all CPUs that do something. False if no CPU, and so no core, can be far from the median.
static bool take_cpus(struct where *where, const struct snapshot *snapshot, size_t place, const double *awake) {
    double least = INFINITY, most = -INFINITY;
    for (size_t c = 0; c < where->first_core; c++) {
        double value = value_of(snapshot, snapshot_scope_cpu(snapshot->layout, c), place);
        where->values[c] = awake[c] < AROUND_IDLE ? (double)NAN : value;
        where->weights[c] = isnan(where->values[c]) ? 0 : isnan(awake[c]) ? 1 : awake[c];
        least = fmin(least, where->values[c]);
        most = fmax(most, where->values[c]);
    }
    bool wide = most - least > WHERE_ABOVE * DIAGNOSIS_LOW_SHARE;
    for (size_t c = 0; wide && c < where->first_core; c++)
        take_interval(where, c, snapshot, snapshot_scope_cpu(snapshot->layout, c), place);
    return wide;
}

static void take_sockets(struct where *where, const struct snapshot *snapshot, size_t place) {
    for (size_t s = 0; s < where->levels[OUTLIERS_SOCKET].n; s++) {
        where->values[where->first_socket + s] = value_of(snapshot, snapshot_scope_socket(s), place);
        take_interval(where, where->first_socket + s, snapshot, snapshot_scope_socket(s), place);
    }
}

// Cores are the means of their CPUs; those that sleep count nothing.
static void take_cores(struct where *where) {
    const struct topology *topology = where->layout->topology;
    for (size_t u = where->first_core; u < where->first_socket; u++)
        where->values[u] = where->below[u] = where->above[u] = where->weights[u] = 0;
    for (size_t c = 0; c < topology->n_cpus; c++) {
        size_t u = where->first_core + topology->cpus[c].core;
        double weight = where->weights[c];
        if (weight == 0)
            continue;
        where->weights[u] += weight;
        where->values[u] += weight * where->values[c];
        where->below[u] += weight * where->below[c];
        where->above[u] += weight * where->above[c];
    }
    for (size_t u = where->first_core; u < where->first_socket; u++) {
        where->values[u] /= where->weights[u]; // of none: NaN
        where->below[u] /= where->weights[u];
        where->above[u] /= where->weights[u];
    }
}

// ---- which are far ----

// The median of a level's values, or of their distance from `from`; NaN: there is none.
static double middle_of(struct where *where, const struct where_level *level, const double *values, double from) {
    size_t n = 0;
    for (size_t u = level->first; u < level->first + level->n; u++)
        if (!isnan(values[u]))
            where->sorted[n++] = isnan(from) ? values[u] : fabs(values[u] - from);
    return median_of(where->sorted, n);
}

static bool belongs(const struct topology_cpu *cpu, const struct where *where, size_t unit) {
    return unit < where->first_core     ? &where->layout->topology->cpus[unit] == cpu
           : unit < where->first_socket ? where->first_core + cpu->core == unit
                                        : where->first_socket + cpu->socket == unit;
}

// True if most CPUs of the unit are as it is: no few of them make the difference.
static bool most_are(const struct where *where, size_t unit, double limit) {
    const struct topology *topology = where->layout->topology;
    size_t n = 0, n_above = 0;
    if (unit < where->first_core)
        return true;
    for (size_t c = 0; c < topology->n_cpus; c++) {
        if (!belongs(&topology->cpus[c], where, unit) || isnan(where->values[c]))
            continue;
        n++;
        n_above += where->values[c] > limit;
    }
    return n >= 2 && (double)n_above >= MEMBERS_ABOVE * (double)n;
}

// True if the errors of the unit and of an ordinary one together do not explain how far they are apart; without
// intervals, if it may be.
static bool is_clear(const struct where *where, const struct where_level *level, size_t unit, double median,
                     double above, double limit) {
    double excess = where->values[unit] - median, below = where->below[unit];
    if (isnan(below) || isnan(above))
        return !where->alone || excess > WITHOUT_INTERVAL * limit;
    return excess > level->widening * sqrt(below * below + above * above);
}

static void judge_level(struct where *where, const struct where_level *level, int metric) {
    double median = middle_of(where, level, where->values, NAN);
    double spread = OF_NORMAL * middle_of(where, level, where->values, median);
    double above = middle_of(where, level, where->above, NAN);
    double limit = fmax(level->above, WHERE_SPREADS * spread);
    for (size_t u = level->first; u < level->first + level->n; u++) {
        struct where_unit *unit = &where->units[u];
        double excess = where->values[u] - median;
        if (!(excess > limit * DIAGNOSIS_LOW_SHARE) || !most_are(where, u, median + excess / 2))
            continue;
        struct where_seen seen = {.share = where->values[u], .usual = median, .excess = excess};
        if (unit->told == metric) {
            unit->stays = true;
            unit->last = seen;
        }
        if (excess > limit && (unit->found < 0 || excess > unit->farthest.excess) &&
            is_clear(where, level, u, median, above, limit)) {
            unit->found = metric;
            unit->farthest = seen;
            unit->by_interval = !isnan(where->below[u]) && !isnan(above);
        }
    }
}

static void judge_metric(struct where *where, const struct snapshot *snapshot, int metric, size_t place,
                         const double *awake) {
    bool wide = take_cpus(where, snapshot, place, awake);
    if (wide && where->levels[OUTLIERS_CPU].n > 0)
        judge_level(where, &where->levels[OUTLIERS_CPU], metric);
    if (wide && where->levels[OUTLIERS_CORE].n > 0) {
        take_cores(where);
        judge_level(where, &where->levels[OUTLIERS_CORE], metric);
    }
    take_sockets(where, snapshot, place);
    judge_level(where, &where->levels[OUTLIERS_SOCKET], metric);
}

// ---- from round to round ----

static bool appears(const struct where_unit *unit, bool alone) {
    bool twice = (unit->seen & 1) + (unit->seen >> 1 & 1) + (unit->seen >> 2 & 1) >= ROUNDS_SEEN;
    return unit->found >= 0 && (alone || (unit->by_interval ? twice : unit->seen == ALL_SEEN));
}

static void end_round(struct where_unit *unit, bool alone) {
    unit->missed = unit->stays ? 0 : unit->missed + 1;
    if (unit->told >= 0 && unit->missed >= ROUNDS)
        *unit = (struct where_unit){.id = unit->id, .found = unit->found, .told = -1, .suspect = -1};
    if (unit->found >= 0 && unit->found != unit->suspect) {
        unit->suspect = unit->found;
        unit->seen = 0;
    }
    unit->seen = (unsigned char)((unit->seen << 1 | (unit->found >= 0)) & ALL_SEEN);
    if (unit->told >= 0 || !appears(unit, alone))
        return;
    unit->told = unit->found;
    unit->last = unit->farthest;
    unit->missed = 0;
}

void where_take(struct where *where, const struct tree *tree, const struct snapshot *snapshot, const double *awake) {
    for (size_t u = 0; u < where->n_units; u++) {
        where->units[u].found = -1;
        where->units[u].stays = false;
    }
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (where_asks(tree, i))
            judge_metric(where, snapshot, (int)tree->nodes[i].metric, (size_t)tree->nodes[i].place, awake);
    for (size_t u = 0; u < where->n_units; u++)
        end_round(&where->units[u], where->alone);
}
