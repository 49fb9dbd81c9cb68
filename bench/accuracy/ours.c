// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/counters.h"
#include "collectors/pmu/sampler.h"
#include "core/plan/schedule.h"
#include "core/tally/derive_private.h"

// The daemon's own way: the sampler runs the plan on the trial's counters, and derive turns its readings into
// snapshots. Only the sums of the minute are made here, from the cells that derive adds to its totals.
//
// Each CPU's rounds end at a time of their own, so the truth is that of its rounds, too.

static const double NS = 1e-9, WARM_UP_SECONDS = 30, OPENING_SECONDS = 2;

struct ours {
    struct trial *t;
    struct counters *counters;
    struct sampler *sampler;
    struct derive *derive;
    uint64_t now_ns, deadline_ns, next_round, seed;
    double *truth;    // [cpu][value of a row]: of its last round
    double *seconds;  // [cpu]: of that
    double *row, *is; // one at a time; [metric]
    bool *fresh;      // [cpu]: a round has ended since estimates were last made
    double begin;     // of the minute; NaN: not yet
    bool done;
    uint64_t *interrupts; // [cpu]: until then
    size_t rounds;        // of the minute
    struct estimate *minute;
};

static void *array(size_t n, size_t size) {
    void *made = calloc(n + 1, size);
    if (!made)
        abort();
    return made;
}

static void start(struct ours *o) {
    struct trial *t = o->t;
    struct sampler_request request = {.plan = t->plan,
                                      .topology = t->layout->topology,
                                      .pmu = &o->counters->pmu,
                                      .busy_clock = &o->counters->busy_clock,
                                      .interval_ns = PLAN_INTERVAL_NS,
                                      .seed = o->seed,
                                      .first_round = o->next_round};
    struct derive *derive = derive_new(t->layout);
    if (!derive || (o->derive && derive_continue(derive, o->derive) < 0) || sampler_new(&request, &o->sampler) < 0)
        abort();
    derive_free(o->derive);
    o->derive = derive;
    o->deadline_ns = o->now_ns;
}

static void stop(struct ours *o) {
    o->next_round = sampler_next_round(o->sampler);
    o->sampler = sampler_free(o->sampler);
}

// Goes on under the plan with what is raised now; its derive takes the totals over.
static void change_plan(struct ours *o, struct outcome *outcome) {
    stop(o);
    trial_adapt_change(o->t, outcome);
    start(o);
}

// Adds the rounds that have ended to the sums of the minute, as derive adds them to its totals.
static void take_round(struct ours *o, size_t cpu, double end) {
    struct trial *t = o->t;
    const struct cells *cells = o->derive->cells;
    double *truth = o->truth + cpu * t->rows->n_values, seconds = cells->times[cpu].seconds;
    memset(truth, 0, t->rows->n_values * sizeof *truth);
    counters_truth(o->counters, cpu, end - seconds, end, truth);
    o->seconds[cpu] = seconds;
    o->fresh[cpu] = true;
    for (size_t u = 0; u < t->plan->n_units && isfinite(o->begin) && cpu < trial_n_judged(t); u++) {
        const double *counted = cells_values(cells, cpu, u);
        bool data = cells_data(cells, cpu, u);
        double factor = data ? cells_factor(cells, cpu, u, seconds) : 0;
        size_t first = rows_first(t->rows, u);
        for (size_t i = 0; i < rows_n(t->rows, u); i++) {
            t->all_values[first + i] += counted[i] * factor;
            t->all_truth[first + i] += truth[first + i];
        }
    }
}

static void take_rounds(struct ours *o, const struct readings *readings) {
    const struct topology *topology = o->t->layout->topology;
    for (size_t i = 0; i < readings->n_cores; i++)
        for (size_t cpu = 0; cpu < topology->n_cpus; cpu++)
            if (topology->cpus[cpu].core == readings->cores[i].core)
                take_round(o, cpu, (double)(readings->cores[i].end_ns - COUNTERS_EPOCH_NS) * NS);
}

static size_t judged_scope(const struct trial *t) {
    return t->setting->first_only ? scope_of_cpu(t->layout->topology, 0) : 0;
}

// Compares the intervals of a snapshot with the truth of the rounds that it is made of.
static void judge_gauges(struct ours *o, const struct snapshot *snapshot, struct outcome *outcome) {
    struct trial *t = o->t;
    size_t scope = judged_scope(t);
    memset(o->row, 0, t->rows->n_values * sizeof *o->row);
    for (size_t cpu = 0; cpu < trial_n_judged(t); cpu++)
        for (size_t i = 0; i < t->rows->n_values && o->seconds[cpu] > 0; i++)
            o->row[i] += o->truth[cpu * t->rows->n_values + i] * (o->derive->seconds / o->seconds[cpu]);
    trial_evaluate(t, o->row, o->is);
    for (size_t m = 0; m < t->plan->n_metrics; m++) {
        double low = snapshot->values[snapshot_low(t->layout, scope, m)];
        if (!isfinite(low) || !isfinite(o->is[m]))
            continue;
        outcome->shown[m]++;
        outcome->inside[m] +=
            o->is[m] >= low - 1e-12 && o->is[m] <= snapshot->values[snapshot_high(t->layout, scope, m)] + 1e-12;
    }
}

// All cores have ended a round: these count for the interval of the minute.
static void take_estimates(struct ours *o) {
    struct cells *cells = o->derive->cells;
    for (size_t cpu = 0; cpu < o->t->n_cpus; cpu++) {
        cells->times[cpu].fresh = o->fresh[cpu];
        o->fresh[cpu] = false;
    }
    estimate_take_round(o->minute, cells, o->derive->seconds);
    for (size_t cpu = 0; cpu < o->t->n_cpus; cpu++)
        cells->times[cpu].fresh = false;
    o->rounds++;
}

static void begin_minute(struct ours *o, double now) {
    o->begin = now;
    memcpy(o->interrupts, o->counters->interrupts, o->t->n_cpus * sizeof *o->interrupts);
    memset(o->fresh, 0, o->t->n_cpus * sizeof *o->fresh);
}

// Every core has ended a round.
static void end_round(struct ours *o, struct snapshot *snapshot, struct outcome *outcome) {
    struct trial *t = o->t;
    double now = (double)(o->now_ns - COUNTERS_EPOCH_NS) * NS;
    if (!isfinite(o->begin)) {
        if (now >= WARM_UP_SECONDS)
            begin_minute(o, now);
        return;
    }
    judge_gauges(o, snapshot, outcome);
    o->done = now >= o->begin + t->setting->seconds - 1e-6;
    if (!t->adapt)
        take_estimates(o);
    else if (trial_adapt_round(t, snapshot))
        change_plan(o, outcome);
}

static void take_readings(struct ours *o, struct outcome *outcome) {
    const struct readings *readings = sampler_readings(o->sampler);
    struct snapshot *snapshot = snapshot_new(o->t->layout);
    if (!snapshot)
        abort();
    derive_round(o->derive, readings, snapshot);
    take_rounds(o, readings);
    if (readings->round_over)
        end_round(o, snapshot, outcome);
    snapshot_unref(snapshot);
}

static void write_outcome(struct ours *o, struct outcome *outcome) {
    struct trial *t = o->t;
    double seconds = (double)(o->now_ns - COUNTERS_EPOCH_NS) * NS - o->begin;
    size_t last = t->n_cpus - 1;
    trial_evaluate(t, t->all_values, outcome->value);
    for (size_t m = 0; m < t->plan->n_metrics; m++)
        outcome->low[m] = outcome->high[m] = NAN;
    for (size_t m = 0; m < t->plan->n_metrics && o->rounds > 0; m++) {
        struct estimate_interval interval =
            estimate_get(o->minute, judged_scope(t), m, outcome->value[m], (double)o->rounds);
        outcome->low[m] = interval.low;
        outcome->high[m] = interval.high;
    }
    size_t event = rows_first(t->rows, t->plan->level1_unit < 0 ? 0 : (size_t)t->plan->level1_unit) + 1;
    outcome->count = t->all_values[event];
    outcome->true_count = t->all_truth[event];
    outcome->rotations = (double)plan_slots(t->plan) / ((double)t->plan->round_ns * NS);
    outcome->interrupts_first = (double)(o->counters->interrupts[0] - o->interrupts[0]) / seconds;
    outcome->interrupts_last = (double)(o->counters->interrupts[last] - o->interrupts[last]) / seconds;
}

double trial_extra_seconds(const struct plan *plan) {
    return WARM_UP_SECONDS + 4 * (double)plan->round_ns * NS * PLAN_GROWTH_MAX + OPENING_SECONDS;
}

void trial_run_ours(struct trial *t, uint64_t seed, struct outcome *outcome) {
    size_t n_values = t->rows->n_values;
    struct ours o = {.t = t, .counters = counters_new(t), .now_ns = COUNTERS_EPOCH_NS, .seed = seed, .begin = NAN};
    o.truth = array(t->n_cpus * n_values, sizeof *o.truth);
    o.seconds = array(t->n_cpus, sizeof *o.seconds);
    o.row = array(n_values, sizeof *o.row);
    o.is = array(t->plan->n_metrics, sizeof *o.is);
    o.fresh = array(t->n_cpus, sizeof *o.fresh);
    o.interrupts = array(t->n_cpus, sizeof *o.interrupts);
    o.minute = estimate_new(t->plan, t->layout->topology, INFINITY);
    start(&o);
    while (!o.done) {
        o.now_ns = o.deadline_ns;
        if (sampler_step(o.sampler, o.now_ns, &o.deadline_ns) == 1)
            take_readings(&o, outcome);
    }
    write_outcome(&o, outcome);
    stop(&o);
    derive_free(o.derive);
    estimate_free(o.minute);
    counters_free(o.counters);
    void *arrays[] = {o.interrupts, o.fresh, o.is, o.row, o.seconds, o.truth};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
}
