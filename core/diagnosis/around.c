// SPDX-License-Identifier: Apache-2.0
#include "core/diagnosis/around.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/diagnosis/bound.h"

#define OF_NORMAL 1.4826 // standard deviation of a normal distribution, by its median distance from the median
#define NO_INTERVAL 2.   // times farther away without one

struct around {
    size_t n_cpus;
    double *values;   // of one metric, by CPU; NaN: none, or nearly idle
    double *sorted;   // n of them
    double *excess;   // above the median, of the metric in which the CPU is farthest away; 0: no outlier
    unsigned *metric; // that metric, by CPU
    double *usual;    // its median, by CPU
    double *cycles;   // total of clock cycles, by CPU, when cores last ended a round
    double *ran;      // share of the busiest CPU's clock cycles since the round before, by CPU; NaN: not known
    // places of these metrics in the plan; -1: not measured
    int busy, hertz;
    int ipc;         // whose denominator is clock cycles
    bool idle, slow; // as in the snapshot before
};

// ---- metrics ----

static double value_of(const struct snapshot *snapshot, size_t scope, int place) {
    return place >= 0 ? snapshot->values[snapshot_metric(snapshot->layout, scope, (size_t)place)] : NAN;
}

static double of_cpu(const struct snapshot *snapshot, size_t cpu, int place) {
    return value_of(snapshot, snapshot_scope_cpu(snapshot->layout, cpu), place);
}

// ---- how busy, how fast ----

// Where no metric tells for how long CPUs sleep, their clock cycles tell which of them do next to nothing.
static void note_cycles(struct around *around, const struct snapshot *snapshot) {
    const struct snapshot_layout *layout = snapshot->layout;
    double most = 0;
    if (around->ipc < 0 || snapshot->within_round)
        return;
    for (size_t c = 0; c < layout->topology->n_cpus; c++) {
        size_t scope = snapshot_scope_cpu(layout, c);
        double total = snapshot->values[snapshot_denominator(layout, scope, (size_t)around->ipc)];
        around->ran[c] = total - around->cycles[c];
        around->cycles[c] = isnan(total) ? around->cycles[c] : total;
        most = fmax(most, around->ran[c]);
    }
    for (size_t c = 0; c < layout->topology->n_cpus; c++)
        around->ran[c] = most > 0 ? around->ran[c] / most : (double)NAN;
}

// The share of its time in which a CPU was awake, else of the busiest CPU's cycles; NaN: neither is known.
static double busy_of(const struct around *around, const struct snapshot *snapshot, size_t cpu) {
    double busy = of_cpu(snapshot, cpu, around->busy);
    return isnan(busy) ? around->ran[cpu] : busy;
}

static double limit_hertz(const struct snapshot_layout *layout) {
    double maximum = layout->topology->maximum_frequency_hz;
    double steady = layout->catalog->environment.literals[LITERAL_SYSTEM_TSC_FREQ];
    if (!(maximum > 0))
        return NAN;
    return fmax(AROUND_MAXIMUM * maximum, steady < maximum ? AROUND_NOMINAL * steady : 0);
}

// By how much limits are wider for what holds already.
static double held(bool before) { return before ? AROUND_HELD : 1; }

static void find_times(struct around *around, const struct snapshot *snapshot, struct circumstances *out) {
    const struct snapshot_layout *layout = snapshot->layout;
    int contention = layout->catalog->level1.contention;
    out->utilisation = value_of(snapshot, 0, around->busy);
    out->busiest = NAN;
    for (size_t c = 0; c < layout->topology->n_cpus; c++)
        out->busiest = fmax(out->busiest, of_cpu(snapshot, c, around->busy));
    out->hertz = value_of(snapshot, 0, around->hertz);
    out->limit_hertz = limit_hertz(layout);
    out->siblings = contention >= 0 ? value_of(snapshot, 0, layout->plan->place[contention]) : (double)NAN;
    out->idle =
        out->utilisation < AROUND_IDLE * held(around->idle) && !(out->busiest > AROUND_BUSY * held(around->idle));
    out->slow =
        out->utilisation * held(around->slow) > AROUND_BUSY && out->hertz < out->limit_hertz * held(around->slow);
    around->idle = out->idle;
    around->slow = out->slow;
    out->crowded = out->siblings > AROUND_CROWDED;
}

// ---- outliers ----

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// The median distance from the median.
static double spread_of(const struct around *around, size_t n_cpus, double median) {
    size_t n = 0;
    for (size_t c = 0; c < n_cpus; c++)
        if (!isnan(around->values[c]))
            around->sorted[n++] = fabs(around->values[c] - median);
    return OF_NORMAL * median_of(around->sorted, n);
}

// Reads a metric of all CPUs that do something. Returns of how many; 0 if none can be far from the median.
static size_t read_values(struct around *around, const struct snapshot *snapshot, size_t place) {
    double least = INFINITY, most = -INFINITY;
    size_t n = 0;
    for (size_t c = 0; c < snapshot->layout->topology->n_cpus; c++) {
        double value = of_cpu(snapshot, c, (int)place);
        bool asleep = busy_of(around, snapshot, c) < AROUND_IDLE;
        around->values[c] = asleep ? (double)NAN : value;
        if (!isnan(around->values[c]))
            around->sorted[n++] = value;
        least = fmin(least, around->values[c]);
        most = fmax(most, around->values[c]);
    }
    return most - least > OUTLIERS_ABOVE ? n : 0;
}

static void judge_metric(struct around *around, const struct snapshot *snapshot, unsigned metric, size_t place) {
    const struct snapshot_layout *layout = snapshot->layout;
    size_t n_cpus = layout->topology->n_cpus, n = read_values(around, snapshot, place);
    if (n < OUTLIERS_CPUS_MIN)
        return;
    double median = median_of(around->sorted, n), spread = spread_of(around, n_cpus, median);
    double least = fmax(OUTLIERS_ABOVE, OUTLIERS_SPREADS * spread);
    for (size_t c = 0; c < n_cpus; c++) {
        double low = snapshot->values[snapshot_low(layout, snapshot_scope_cpu(layout, c), place)];
        double excess = around->values[c] - median;
        bool far = isnan(low) ? excess > NO_INTERVAL * least : excess > least && low > median + OUTLIERS_ABOVE / 2;
        if (!far || excess <= around->excess[c])
            continue;
        around->excess[c] = excess;
        around->metric[c] = metric;
        around->usual[c] = median;
    }
}

static bool is_useful(const struct catalog *catalog, unsigned metric) {
    for (size_t i = 0; i < catalog->level1.n_categories; i++)
        if (catalog->level1.categories[i].metric == metric)
            return catalog->level1.categories[i].category == CATEGORY_RETIRING ||
                   catalog->level1.categories[i].category == CATEGORY_SMT_CONTENTION;
    return false;
}

static bool is_candidate(const struct tree *tree, size_t node) {
    const struct tree_node *of = &tree->nodes[node];
    const struct catalog *catalog = tree->layout->catalog;
    return of->place >= 0 && of->category == tree->nodes[0].category && !is_useful(catalog, of->metric) &&
           catalog->metrics[of->metric].domain != METRIC_OTHER;
}

// ---- outliers of one metric, together ----

static void add_cpu(struct outliers *out, const struct topology_cpu *cpu) {
    struct outliers_range *range = out->n_ranges > 0 ? &out->ranges[out->n_ranges - 1] : NULL;
    out->socket = out->n == 0 || out->socket == (int)cpu->socket ? (int)cpu->socket : -1;
    out->n++;
    if (range && !out->more && range->last + 1 == cpu->id)
        range->last = cpu->id;
    else if (out->n_ranges < OUTLIERS_RANGES_MAX)
        out->ranges[out->n_ranges++] = (struct outliers_range){cpu->id, cpu->id};
    else
        out->more = true;
}

static double mean_of(const struct around *around, const struct snapshot *snapshot, unsigned metric,
                      unsigned measured) {
    int place = snapshot->layout->plan->place[measured];
    double sum = 0;
    size_t n = 0;
    for (size_t c = 0; c < snapshot->layout->topology->n_cpus; c++) {
        double value = around->excess[c] > 0 && around->metric[c] == metric ? of_cpu(snapshot, c, place) : (double)NAN;
        sum += isnan(value) ? 0 : value;
        n += isnan(value) ? 0 : 1;
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static void gather(const struct around *around, struct tree *tree, const struct snapshot *snapshot, unsigned metric,
                   struct outliers *out) {
    const struct topology *topology = snapshot->layout->topology;
    size_t farthest = 0;
    *out = (struct outliers){.metric = metric, .last = metric, .socket = -1};
    for (size_t c = 0; c < topology->n_cpus; c++) {
        if (!(around->excess[c] > 0) || around->metric[c] != metric)
            continue;
        double busy = busy_of(around, snapshot, c);
        farthest = out->n == 0 || around->excess[c] > around->excess[farthest] ? c : farthest;
        out->slots += around->excess[c] * (isnan(busy) ? 1 : busy);
        out->usual = around->usual[c];
        add_cpu(out, &topology->cpus[c]);
    }
    if (out->n == 0)
        return;
    out->socket = topology->n_sockets > 1 ? out->socket : -1;
    tree_evaluate(tree, snapshot, snapshot_scope_cpu(snapshot->layout, farthest));
    struct verdict verdict = bound_find(tree);
    if (verdict_high(&verdict) && verdict.path[0] == metric)
        out->last = verdict.path[verdict.n - 1];
    out->share = mean_of(around, snapshot, metric, metric);
    out->last_share = mean_of(around, snapshot, metric, out->last);
}

// Keeps the largest ones, in order.
static void keep(struct circumstances *circumstances, const struct outliers *found) {
    size_t at = circumstances->n_outliers;
    while (at > 0 && circumstances->outliers[at - 1].slots < found->slots)
        at--;
    if (at == OUTLIERS_MAX)
        return;
    size_t n = circumstances->n_outliers < OUTLIERS_MAX ? circumstances->n_outliers++ : OUTLIERS_MAX - 1;
    memmove(&circumstances->outliers[at + 1], &circumstances->outliers[at], (n - at) * sizeof *circumstances->outliers);
    circumstances->outliers[at] = *found;
}

static void find_outliers(struct around *around, struct tree *tree, const struct snapshot *snapshot,
                          struct circumstances *out) {
    for (size_t c = 0; c < snapshot->layout->topology->n_cpus; c++)
        around->excess[c] = 0;
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i))
        if (is_candidate(tree, i))
            judge_metric(around, snapshot, tree->nodes[i].metric, (size_t)tree->nodes[i].place);
    for (size_t i = 0; i < tree->n; i = tree_next(tree, i)) {
        struct outliers found;
        if (!is_candidate(tree, i))
            continue;
        gather(around, tree, snapshot, tree->nodes[i].metric, &found);
        if (found.n > 0)
            keep(out, &found);
    }
}

// ---- all of it ----

static void lay_out(void *self, struct block *block) {
    struct around *around = self;
    around->values = block_take(block, around->n_cpus, sizeof *around->values);
    around->sorted = block_take(block, around->n_cpus, sizeof *around->sorted);
    around->excess = block_take(block, around->n_cpus, sizeof *around->excess);
    around->metric = block_take(block, around->n_cpus, sizeof *around->metric);
    around->usual = block_take(block, around->n_cpus, sizeof *around->usual);
    around->cycles = block_take(block, around->n_cpus, sizeof *around->cycles);
    around->ran = block_take(block, around->n_cpus, sizeof *around->ran);
}

struct around *around_new(const struct snapshot_layout *layout) {
    struct around around = {.n_cpus = layout->topology->n_cpus,
                            .busy = snapshot_layout_place(layout, CATALOG_UTILIZATION),
                            .hertz = snapshot_layout_place(layout, CATALOG_FREQUENCY),
                            .ipc = snapshot_layout_place(layout, CATALOG_IPC)};
    struct around *made = block_new(&around, sizeof around, lay_out);
    for (size_t c = 0; made && c < around.n_cpus; c++)
        made->ran[c] = NAN;
    return made;
}

struct around *around_free(struct around *around) {
    free(around);
    return NULL;
}

void around_fill(struct around *around, struct tree *tree, struct snapshot *snapshot) {
    struct circumstances *out = &snapshot->circumstances;
    *out = circumstances_unknown();
    note_cycles(around, snapshot);
    find_times(around, snapshot, out);
    if (!snapshot->layout->topology->boxes && tree->n > 0)
        find_outliers(around, tree, snapshot, out);
}
