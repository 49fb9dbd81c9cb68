// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_steps.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"

enum { PAIRS_MAX = 64 }; // of a round, which are known (struct cell_contrast)
static const double SHARED_LEAST = 0.25;

static void lay_out(void *self, struct block *block) {
    struct estimate_steps *steps = self;
    steps->leads = block_take(block, steps->topology->n_cpus, sizeof *steps->leads);
    steps->block_of = block_take(block, steps->topology->n_cores, sizeof *steps->block_of);
    steps->blocks = block_take(block, steps->topology->n_cores + 1, sizeof *steps->blocks);
}

struct estimate_steps *estimate_steps_new(const struct plan *plan, const struct topology *topology) {
    struct estimate_steps steps = {.topology = topology, .entries = plan->n_round - (plan->idle_ns > 0)};
    struct estimate_steps *made = block_new(&steps, sizeof steps, lay_out);
    if (!made)
        return NULL;
    for (size_t cpu = topology->n_cpus; cpu-- > 0;)
        made->block_of[topology->cpus[cpu].core] = cpu;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
        made->leads[cpu] = made->block_of[topology->cpus[cpu].core] == cpu;
    for (size_t core = 0; core < topology->n_cores; core++)
        made->block_of[core] = topology->n_cores;
    return made;
}

struct estimate_steps *estimate_steps_free(struct estimate_steps *steps) {
    free(steps);
    return NULL;
}

// ---- who is compared ----

// The cohort whose rounds end then; n_cohorts: there are too many.
static size_t cohort_at(struct estimate_steps *steps, uint64_t end_ns) {
    size_t k = 0;
    while (k < steps->n_cohorts && steps->cohorts[k].end_ns != end_ns)
        k++;
    if (k == steps->n_cohorts && k < ESTIMATE_COHORTS_MAX)
        steps->cohorts[steps->n_cohorts++] = (struct estimate_cohort){.end_ns = end_ns};
    return k;
}

// Cores may lack pairs of windows, each other ones: a group that has two slots in a row has one window. What they do in
// step shows in pairs that they have in common. 1: all have the same.
static void find_shared(struct estimate_steps *steps, const struct cells *cells, struct estimate_cohort *cohort) {
    double both = 0, own = 0, n = 0, by_pair[PAIRS_MAX] = {0};
    for (size_t cpu = 0; cpu < steps->topology->n_cpus && cells->rows->plan->common_unit >= 0; cpu++) {
        const struct cell_contrast *contrast = &cells->contrasts[cpu];
        if (!steps->leads[cpu] || cells->times[cpu].end_ns != cohort->end_ns)
            continue;
        n++;
        for (unsigned k = 0; k < PAIRS_MAX && contrast->n_pairs > 0; k++)
            by_pair[k] += contrast->pairs >> k & 1 ? 1 / sqrt(contrast->n_pairs) : 0;
        own += contrast->n_pairs > 0;
    }
    for (unsigned k = 0; k < PAIRS_MAX; k++)
        both += by_pair[k] * by_pair[k];
    cohort->shared = n > 1 ? fmax((both - own) / (n * (n - 1)), SHARED_LEAST) : 1;
}

void estimate_steps_take_round(struct estimate_steps *steps, const struct cells *cells) {
    const struct topology *topology = steps->topology;
    size_t first = 0, entries = steps->entries > 0 ? steps->entries : 1;
    steps->n_cohorts = 0;
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        size_t k = steps->leads[cpu] ? cohort_at(steps, cells->times[cpu].end_ns) : ESTIMATE_COHORTS_MAX;
        if (k < ESTIMATE_COHORTS_MAX)
            steps->cohorts[k].n_cores++;
    }
    for (size_t k = 0; k < steps->n_cohorts; k++) {
        struct estimate_cohort *cohort = &steps->cohorts[k];
        cohort->first_block = first;
        first += cohort->n_blocks = (cohort->n_cores + entries - 1) / entries;
        cohort->n_cores = 0;
        find_shared(steps, cells, cohort);
    }
    for (size_t cpu = 0; cpu < topology->n_cpus; cpu++) {
        size_t k = cohort_at(steps, cells->times[cpu].end_ns), *block = &steps->block_of[topology->cpus[cpu].core];
        struct estimate_cohort *cohort = &steps->cohorts[k];
        if (steps->leads[cpu])
            *block = k < steps->n_cohorts ? cohort->first_block + cohort->n_cores++ / entries : topology->n_cores;
    }
}

void estimate_steps_begin(struct estimate_steps *steps, struct scope_cpus in) {
    for (size_t b = 0; b <= steps->topology->n_cores; b++)
        steps->blocks[b] = (struct estimate_step_block){0};
    for (size_t c = 0; c < in.n; c++)
        if (steps->leads[in.cpus[c]])
            steps->blocks[steps->block_of[steps->topology->cpus[in.cpus[c]].core]].n_cores++;
}

// ---- a metric ----

// Sums over blocks of a cohort: their differences and the squares of these, and the variances of their cores.
struct sums {
    double n_blocks, n_cores, difference, squares, variance;
};

static void add(struct sums *sums, const struct estimate_step_block *block) {
    sums->n_blocks++;
    sums->n_cores += (double)block->n_cores;
    sums->difference += block->difference;
    sums->squares += block->difference * block->difference;
    sums->variance += block->variance;
}

// The variance of the sum of the blocks, as they differ among themselves in this round.
static double between(const struct sums *whole) {
    double rest = whole->squares - whole->difference * whole->difference / whole->n_blocks;
    return rest / 2 * whole->n_blocks / (whole->n_blocks - 1);
}

// The part of the cores' variance that their common change makes: what remains is that about the mean difference.
static double of_change(const struct sums *all) {
    double mean_part = all->difference * all->difference / all->n_cores / 2, n = all->n_cores;
    return n > 1 ? all->variance - (all->variance - mean_part) * n / (n - 1) : 0;
}

double estimate_steps_cohorts(const struct estimate_steps *steps) {
    double all = 0, pairs = 0;
    for (size_t k = 0; k < steps->n_cohorts; k++) {
        double n = 0;
        for (size_t b = 0; b < steps->cohorts[k].n_blocks; b++)
            n += (double)steps->blocks[steps->cohorts[k].first_block + b].n_cores;
        all += n;
        pairs += n * n;
    }
    return pairs > 0 ? all * all / pairs : 1;
}

struct estimate_in_step estimate_steps_end(struct estimate_steps *steps, bool within) {
    struct estimate_in_step in_step = {0, 0, 0, 0, 0};
    double n_cores = 0, pairs = 0, compared = 0;
    for (size_t k = 0; k < steps->n_cohorts; k++) {
        const struct estimate_cohort *cohort = &steps->cohorts[k];
        struct sums all = {0}, whole = {0};
        for (size_t b = cohort->first_block; b < cohort->first_block + cohort->n_blocks; b++) {
            struct estimate_step_block *block = &steps->blocks[b];
            add(&all, block);
            if (steps->entries > 1 && block->n_cores == steps->entries)
                add(&whole, block);
            block->difference = block->variance = 0;
        }
        n_cores += all.n_cores;
        pairs += all.n_cores * all.n_cores;
        in_step.excess += (all.difference * all.difference / 2 - all.variance) / (within ? cohort->shared : 1);
        in_step.shared += all.n_cores > 0 ? of_change(&all) : 0;
        compared += whole.n_blocks > 1 ? whole.n_cores : 0;
        in_step.alike += whole.n_blocks > 1 ? whole.variance - between(&whole) : 0;
        in_step.balanced += whole.n_blocks > 1 ? whole.variance - of_change(&whole) - between(&whole) : 0;
    }
    in_step.excess *= pairs > 0 ? n_cores * n_cores / pairs : 0;
    in_step.alike *= compared > 0 ? n_cores / compared : 0;
    in_step.balanced *= compared > 0 ? n_cores / compared : 0;
    in_step.whole = n_cores > 0 ? compared / n_cores : 0;
    return in_step;
}
