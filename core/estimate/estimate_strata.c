// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_strata.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/block.h"
#include "core/counts/operand_lanes.h"
#include "core/estimate/estimate_spread.h"

enum { ASLEEP, AWAKE, MIXED, STRATA }; // lanes

struct estimate_strata {
    const struct rows *rows;
    struct operand_lanes *at;
    struct lanes *means;   // [value of a row]: of the strata
    struct lanes *seconds; // [unit]: likewise, of its windows, extrapolated
    double awake;          // mean of the seconds in which the cores were awake
    double rounds;         // in the means
    double *differences;   // [metric of the plan]
};

static void lay_out(void *self, struct block *block) {
    struct estimate_strata *strata = self;
    const struct plan *plan = strata->rows->plan;
    strata->means = block_take(block, strata->rows->n_values, sizeof *strata->means);
    strata->seconds = block_take(block, strata->rows->n_units, sizeof *strata->seconds);
    strata->differences = block_take(block, plan->n_metrics, sizeof *strata->differences);
}

struct estimate_strata *estimate_strata_new(const struct rows *rows) {
    struct estimate_strata strata = {.rows = rows, .at = operand_lanes_new(rows)};
    struct estimate_strata *made = strata.at ? block_new(&strata, sizeof strata, lay_out) : NULL;
    if (!made)
        operand_lanes_free(strata.at);
    for (size_t u = 0; made && u < rows->n_units; u++) // windows' times say nothing, so nor does what is made of them
        made->means[rows_first(rows, u)] = lanes_all(NAN);
    return made;
}

struct estimate_strata *estimate_strata_free(struct estimate_strata *strata) {
    if (strata)
        operand_lanes_free(strata->at);
    free(strata);
    return NULL;
}

static bool some_held(const struct estimate_rounds *rounds) {
    bool some = false;
    for (size_t block = 0; block < rounds->n_blocks; block++)
        some = some || lanes_some(&rounds->held[block]);
    return some;
}

static double awake_of(const struct estimate_rounds *rounds) {
    double seconds = 0;
    for (size_t block = 0; block < rounds->n_blocks; block++)
        for (size_t l = 0; l < LANES; l++)
            seconds += rounds->held[block].of[l] > 0 ? rounds->awake[block].of[l] : 0;
    return seconds;
}

// Sums over the cores that are held: of a value of a unit, or of its windows' seconds.
static struct lanes sums_of(const struct estimate_rounds *rounds, size_t u, size_t i) {
    struct lanes sums = lanes_all(0);
    for (size_t block = 0; block < rounds->n_blocks; block++) {
        const struct estimate_cell *cell = estimate_rounds_cell(rounds, block, u);
        const struct lanes *values = i == 0 ? &cell->slept : &estimate_rounds_now(rounds, block, u)[i];
        for (size_t l = 0; l < LANES; l++) {
            size_t stratum = !(cell->slept.of[l] > 0) ? AWAKE : rounds->awake[block].of[l] > 0 ? MIXED : ASLEEP;
            bool held = rounds->held[block].of[l] > 0 && cell->share.of[l] > 0;
            sums.of[stratum] += held ? values->of[l] : 0;
        }
    }
    return sums;
}

// Moves a unit's means. What sleep is like is kept where no window is of sleep alone: else it would fade away.
static void move_unit(struct estimate_strata *strata, const struct estimate_rounds *rounds, size_t u, double weight) {
    struct lanes seconds = sums_of(rounds, u, 0), by = {{weight, weight, weight}};
    by.of[ASLEEP] = seconds.of[ASLEEP] > 0 ? weight : 0;
    estimate_move(&strata->seconds[u], &seconds, &by);
    for (size_t i = 1, n = rows_n(strata->rows, u); i < n; i++) {
        struct lanes sums = sums_of(rounds, u, i);
        estimate_move(&strata->means[rows_first(strata->rows, u) + i], &sums, &by);
    }
}

static void find_differences(struct estimate_strata *strata) {
    const struct plan *plan = strata->rows->plan;
    operand_lanes_begin(strata->at, NAN, 0);
    for (size_t i = 0; i < plan->n_metrics; i++) {
        size_t m = plan->evaluation[i];
        const struct plan_metric *metric = &plan->metrics[m];
        const struct formula *formula = plan->catalog->metrics[metric->metric].formula;
        if (!plan_metric_planned(metric))
            continue;
        operand_lanes_fill(strata->at, formula, metric->unit, strata->means);
        struct lanes values = formula_evaluate_lanes(formula, strata->at->counts, strata->at->metrics);
        double asleep = values.of[isfinite(values.of[ASLEEP]) ? ASLEEP : MIXED];
        double difference = fabs(asleep - values.of[AWAKE]);
        strata->at->metrics[catalog_metric_named(plan->catalog, metric->metric)] = values;
        strata->differences[m] = isfinite(difference) ? difference : 0;
    }
}

void estimate_strata_take_round(struct estimate_strata *strata, const struct estimate_rounds *rounds,
                                double memory_rounds) {
    if (!some_held(rounds))
        return;
    strata->rounds++;
    double weight = 1 / (strata->rounds < memory_rounds ? strata->rounds : memory_rounds);
    strata->awake += weight * (awake_of(rounds) - strata->awake);
    for (size_t u = 0; u < strata->rows->n_units; u++)
        move_unit(strata, rounds, u, weight);
    find_differences(strata);
}

double estimate_strata_rate_asleep(const struct estimate_strata *strata, size_t unit, size_t place) {
    double seconds = strata->seconds[unit].of[ASLEEP];
    return seconds > 0 ? strata->means[rows_first(strata->rows, unit) + place].of[ASLEEP] / seconds : NAN;
}

double estimate_strata_rate(const struct estimate_strata *strata, size_t unit, size_t place) {
    const struct lanes *mean = &strata->means[rows_first(strata->rows, unit) + place];
    double asleep = estimate_strata_rate_asleep(strata, unit, place) * strata->seconds[unit].of[MIXED];
    double hidden = isfinite(asleep) ? lanes_max(mean->of[MIXED] - asleep, 0) : 0;
    return strata->awake > 0 ? (mean->of[AWAKE] + hidden) / strata->awake : 0;
}

double estimate_strata_difference(const struct estimate_strata *strata, size_t metric) {
    return strata->differences[metric];
}
