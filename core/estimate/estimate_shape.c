// SPDX-License-Identifier: Apache-2.0
#include "core/estimate/estimate_shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/block.h"
#include "core/estimate/estimate.h"
#include "core/plan/schedule.h"

// A switch between two states, of which there are fewer than windows, makes (5/3 - 2/3) / (2/3) as much more of a
// difference between windows with one in between as of one between neighbours.
static const double SLOW_DIFFERS = 1.5;

// What no window shows may differ by this much. Windows of cores that sleep reach over the end of the round as well.
static const double PIECE_LEAST = 0.015, PIECE_ASLEEP = 0.05;

static void lay_out(void *self, struct block *block) {
    struct estimate_shape *shape = self;
    int unit = shape->rows->plan->common_unit;
    size_t n = unit >= 0 ? shape->rows->plan->units[unit].n_events : 0;
    shape->within = block_take(block, shape->rows->plan->n_metrics, sizeof *shape->within);
    shape->moves = block_take(block, shape->n_shared, sizeof *shape->moves);
    shape->rates = block_take(block, n, sizeof *shape->rates);
    shape->sums = block_take(block, n, sizeof *shape->sums);
}

// Those that it needs have been asked before.
static bool is_within(const struct estimate_shape *shape, size_t metric) {
    const struct plan *plan = shape->rows->plan;
    const struct plan_metric *of = &plan->metrics[metric];
    const struct formula *formula = plan->catalog->metrics[of->metric].formula;
    bool within = of->unit < 0 ? plan_metric_planned(of) && formula->n_metrics > 0 : of->unit == plan->common_unit;
    for (size_t i = 0; i < formula->n_metrics; i++) {
        int needed = plan->place[formula->metrics[i]];
        within = within && needed >= 0 && shape->within[needed];
    }
    return within;
}

struct estimate_shape *estimate_shape_new(const struct rows *rows, const struct scopes *scopes, double memory_rounds) {
    const struct plan *plan = rows->plan;
    struct estimate_shape shape = {.rows = rows,
                                   .scopes = scopes,
                                   .n_shared = scope_of_cpu(scopes->topology, 0),
                                   .memory_rounds = memory_rounds,
                                   .ratio = 1};
    if (plan->common_unit >= 0 && plan->idle_ns > 0) {
        double slots_each = (double)plan->slot_ns / (double)schedule_usual_piece_ns(plan);
        double pieces = schedule_usual_pieces(plan) / plan_slots(plan);
        shape.slots_each = slots_each > 1 ? slots_each : 0;
        shape.apart = pieces < 1 ? 1 - pieces : 0;
        shape.slow = fmin((1 / pieces + 1 / slots_each) / slots_each / 2, 1);
    }
    struct estimate_shape *made = block_new(&shape, sizeof shape, lay_out);
    for (size_t i = 0; made && i < plan->n_metrics; i++)
        made->within[plan->evaluation[i]] = shape.slots_each > 0 && is_within(made, plan->evaluation[i]);
    return made;
}

struct estimate_shape *estimate_shape_free(struct estimate_shape *shape) {
    free(shape);
    return NULL;
}

static bool takes(const struct cells *cells, size_t cpu) {
    return cells->times[cpu].fresh && !cells->times[cpu].held && cells->neighbours->cpus[cpu].n_far > 0;
}

// Adds up what the scope's CPUs with windows to compare count a second, and the variance of one of their windows by
// their contrasts. Returns how many there are.
static size_t add_cpus(struct estimate_shape *shape, const struct cells *cells, struct scope_cpus in) {
    size_t unit = (size_t)shape->rows->plan->common_unit, n = cells->neighbours->n_events, n_cpus = 0;
    memset(shape->rates, 0, n * sizeof *shape->rates);
    memset(shape->sums, 0, n * sizeof *shape->sums);
    for (size_t c = 0; c < in.n; c++) {
        double factor;
        const double *values = cells_values(cells, in.cpus[c], unit);
        const double *contrast = takes(cells, in.cpus[c]) ? cells_contrast(cells, in.cpus[c], unit, &factor) : NULL;
        if (!contrast)
            continue;
        n_cpus++;
        factor *= sqrt(cells_at(cells, in.cpus[c], unit)->n_windows) / values[0];
        for (size_t i = 0; i < n; i++) {
            shape->rates[i] += values[1 + i] / values[0];
            shape->sums[i] += contrast[1 + i] * factor;
        }
    }
    return n_cpus;
}

static void move(double *mean, double value, double weight) { *mean += weight * (value - *mean); }

static double weight_of(const struct estimate_shape *shape) {
    double rounds = shape->rounds + 1;
    return 1 / (rounds < shape->memory_rounds ? rounds : shape->memory_rounds);
}

// Moves a scope's mean: of its events' relative variances, the mean.
static void move_scope(struct estimate_shape *shape, const struct cells *cells, size_t scope) {
    double squares = 0, n = 0;
    if (add_cpus(shape, cells, scopes_cpus(shape->scopes, scope)) == 0)
        return;
    for (size_t i = 0; i < cells->neighbours->n_events; i++) {
        double relative = shape->sums[i] / shape->rates[i];
        if (cells->neighbours->is_field[i] || !(shape->rates[i] > 0))
            continue;
        squares += relative * relative;
        n++;
    }
    if (n > 0)
        move(&shape->moves[scope], squares / n, weight_of(shape));
}

// Half the mean squared differences of all CPUs, relative to what the host counts a second.
static bool find_differences(const struct estimate_shape *shape, const struct cells *cells, double *near, double *far) {
    const struct neighbours *neighbours = cells->neighbours;
    bool some = false;
    *near = *far = 0;
    for (size_t cpu = 0; cpu < cells->n_cpus; cpu++) {
        const struct neighbours_event *events = neighbours_of(neighbours, cpu);
        if (!takes(cells, cpu))
            continue;
        for (size_t i = 0; i < neighbours->n_events; i++) {
            double square = shape->rates[i] * shape->rates[i];
            if (neighbours->is_field[i] || !(square > 0))
                continue;
            *near += events[i].near / square / neighbours->cpus[cpu].n_near / 2;
            *far += events[i].far / square / neighbours->cpus[cpu].n_far / 2;
            some = true;
        }
    }
    return some;
}

static bool all_held(const struct cells *cells) {
    bool held = true;
    for (size_t cpu = 0; cpu < cells->n_cpus; cpu++)
        held = held && (cells->times[cpu].held || !cells->times[cpu].fresh);
    return held;
}

// The variance in a piece, as much of it as there may be.
static double ratio_of(const struct estimate_shape *shape) {
    double weights2 = shape->weights2, near = shape->near;
    double variance = fmax(shape->excess2 - shape->excess * shape->excess, 0) * weights2 / (1 - weights2);
    double excess = weights2 < 1 ? shape->excess + sqrt(variance) : near;
    if (!(near > 0))
        return 1;
    if (excess < 0)
        return 1 - fmin(-excess / SLOW_DIFFERS, near) / near * (1 - shape->slow);
    double edge = shape->apart > 0 ? 2 * excess / shape->apart : INFINITY;
    return fmin(1 + edge / near * (shape->slots_each - 1 - shape->apart / 2), shape->slots_each);
}

void estimate_shape_take_round(struct estimate_shape *shape, const struct cells *cells) {
    double near, far, weight = weight_of(shape);
    if (shape->slots_each == 0)
        return;
    shape->asleep = all_held(cells);
    for (size_t scope = shape->n_shared; scope-- > 0;)
        move_scope(shape, cells, scope);
    if (!find_differences(shape, cells, &near, &far)) // by the rates of the host, the last one
        return;
    double excess = near - far;
    move(&shape->near, near, weight);
    move(&shape->excess, excess, weight);
    move(&shape->excess2, excess * excess, weight);
    shape->weights2 = (1 - weight) * (1 - weight) * shape->weights2 + weight * weight;
    shape->rounds++;
    shape->ratio = ratio_of(shape);
}

double estimate_shape_piece(const struct estimate_shape *shape, size_t scope, size_t metric) {
    if (shape->within[metric] && (shape->rounds > 0 || shape->asleep))
        return shape->asleep ? PIECE_ASLEEP : PIECE_LEAST;
    if (shape->rounds == 0)
        return ESTIMATE_PIECE_RELATIVE;
    double moves = sqrt(shape->moves[scope] * shape->slots_each * shape->ratio);
    return fmin(PIECE_LEAST + moves, ESTIMATE_PIECE_RELATIVE);
}
