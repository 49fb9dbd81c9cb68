// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/sizes.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/goals.h"
#include "bench/accuracy/jobs.h"

enum { SIZE_N = 3, GROUP_N = 12, MINUTE = 60 };
static const double IDLE = 0.1;

static const struct size {
    const char *name;
    unsigned cpus;
    // goals: 95th percentiles of all loads and of the worst of those named below, in points; interrupts a second
    double p95, worst, busy, sleeping;
} sizes[SIZE_N] = {
    {"32 CPUs", 32, 1, 2.8, 10, 1.5}, {"128 CPUs", 128, 0.7, 2, 5.5, 0.6}, {"256 CPUs", 256, 0.5, 2, 3, 0.3}};

struct run {
    struct setting settings[SIZE_N];
    unsigned seeds;
    struct scores *scores;
    pthread_mutex_t lock;
};

static unsigned n_kinds(void) { return (unsigned)(load_n_kinds + load_n_correlated); }

static const struct load_kind *kind_at(unsigned kind) {
    return kind < load_n_kinds ? &load_kinds[kind] : &load_correlated[kind - load_n_kinds];
}

// Twelve slots, one of them level 1's; where the PMU needs fewer event groups, the last ones stand for others.
static struct plan *make_plan(const struct plan_request *request) {
    struct plan *plan;
    if (plan_new(request, &plan) < 0)
        abort();
    unsigned n = 0;
    bool level1 = plan->level1_unit < 0;
    free(plan->round);
    plan->round = calloc(GROUP_N + 1, sizeof *plan->round);
    if (!plan->round)
        abort();
    for (unsigned u = 0; u < plan->n_units && n < GROUP_N; u++) {
        bool is_level1 = plan->level1_unit == (int)u;
        if (plan->common_unit == (int)u || (!is_level1 && !level1 && n == GROUP_N - 1))
            continue;
        level1 = level1 || is_level1;
        plan->round[n++] = u;
    }
    for (unsigned last = n; n < GROUP_N; n++)
        plan->round[n] = plan->round[2 * last - n - 1];
    plan->n_windows = n;
    plan->round[n++] = (unsigned)plan->n_units;
    plan->n_round = n;
    plan->idle_ns = (uint64_t)((double)(GROUP_N * plan->slot_ns) * IDLE / (1 - IDLE) + 0.5);
    plan->round_ns = GROUP_N * plan->slot_ns + plan->idle_ns;
    return plan;
}

static void run_one(void *context, unsigned job) {
    struct run *run = context;
    unsigned seed = job % run->seeds, kind = job / run->seeds % n_kinds();
    unsigned s = SIZE_N - 1 - job / run->seeds / n_kinds(); // the longest ones first
    const struct plan *plan = run->settings[s].plan;
    struct outcome outcome;
    outcome_init(&outcome, plan->n_metrics);
    trial_run(&run->settings[s], kind_at(kind), METHOD_OURS, 1000 + seed, &outcome);
    pthread_mutex_lock(&run->lock);
    score_take(&run->scores->of[s][METHOD_OURS][kind], plan, true, &outcome);
    pthread_mutex_unlock(&run->lock);
    outcome_deinit(&outcome);
}

static bool is_hard(const struct load_kind *kind) {
    return kind->shape == LOAD_HOT || kind->shape == LOAD_MIGRATING || kind->shape == LOAD_LOCKSTEP ||
           kind->shape == LOAD_STEP;
}

static double interrupts(const struct run *run, unsigned s, enum load_shape shape, bool last) {
    for (unsigned kind = 0; kind < n_kinds(); kind++) {
        const struct score *score = &run->scores->of[s][METHOD_OURS][kind];
        if (kind_at(kind)->shape == shape)
            return (last ? score->interrupts_last : score->interrupts_first) / (double)score->n_trials;
    }
    return NAN;
}

static void print_sizes(const struct run *run) {
    const struct plan *plan = run->settings[0].plan;
    printf("\ntwelve event groups of equal weight, slots of %g ms\n\n%-20s", (double)plan->slot_ns * 1e-6,
           "level 1, points");
    for (int s = 0; s < SIZE_N; s++)
        printf(" %15s %9s %9s", sizes[s].name, "inside", "of MPKI");
    printf("\n");
    for (unsigned kind = 0; kind <= n_kinds(); kind++) {
        printf("%-20s", kind < n_kinds() ? kind_at(kind)->name : "all");
        for (unsigned s = 0; s < SIZE_N; s++) {
            struct summary ours = scores_summary(run->scores, s, METHOD_OURS, kind);
            printf("   %5.2f / %5.2f %7.1f %% %7.1f %%", ours.median, ours.p95, 100 * ours.inside,
                   100 * ours.inside_mpki);
        }
        printf("\n");
    }
    printf("\n");
}

static bool check_size(const struct run *run, unsigned s, bool full) {
    const struct size *size = &sizes[s];
    struct summary all = scores_summary(run->scores, s, METHOD_OURS, n_kinds());
    double worst = 0;
    for (unsigned kind = 0; kind < n_kinds(); kind++)
        if (is_hard(kind_at(kind)))
            worst = fmax(worst, scores_summary(run->scores, s, METHOD_OURS, kind).p95);
    bool met = goal_check(true, size->name, "median error, points", all.median, 0, 0.1);
    met = goal_check(true, size->name, "95th percentile, points", all.p95, 0, size->p95) && met;
    (void)goal_check(false, size->name, "95th percentile, worst of hot, migrating, correlated", worst, 0, size->worst);
    double margin = full ? 0 : 200 * all.error;
    met = goal_check(true, size->name, "intervals with the truth inside, %", 100 * all.inside, 93 - margin, 100) && met;
    met = goal_check(full, size->name, "the same of MPKI, %", 100 * all.inside_mpki, 93, 100) && met;
    (void)goal_check(false, size->name, "interrupts of a busy core, a second", interrupts(run, s, LOAD_STEADY, false),
                     0, size->busy);
    (void)goal_check(false, size->name, "interrupts of a sleeping core, a second", interrupts(run, s, LOAD_HOT, true),
                     0, size->sleeping);
    return met;
}

bool sizes_check(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads, bool full) {
    struct run run = {.seeds = seeds, .scores = scores_new(n_kinds()), .lock = PTHREAD_MUTEX_INITIALIZER};
    struct plan *plan = make_plan(request);
    double length = (double)plan->round_ns * 1e-9;
    for (int s = 0; s < SIZE_N; s++)
        run.settings[s] = (struct setting){.name = sizes[s].name,
                                           .plan = plan,
                                           .n_cpus = sizes[s].cpus,
                                           .n_counters = plan->general_counters,
                                           .rates = rates,
                                           .seconds = floor(MINUTE / length) * length};
    jobs_run(SIZE_N * n_kinds() * seeds, threads, run_one, &run);
    print_sizes(&run);
    bool met = true;
    for (unsigned s = 0; s < SIZE_N; s++)
        met = check_size(&run, s, full) && met;
    scores_free(run.scores);
    plan_free(plan);
    return met;
}
