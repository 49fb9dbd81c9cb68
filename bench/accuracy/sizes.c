// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/sizes.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/accuracy/comparison.h"
#include "bench/accuracy/goals.h"
#include "bench/accuracy/jobs.h"
#include "core/plan/schedule.h"

enum { SIZE_N = 3, GROUP_N = 12, MINUTE = 60, LEVEL1_MAX = 8 };
static const double IDLE = 0.1, BIAS_COUNT = 0.001, BIAS_POINTS = 0.1, BIAS_ERRORS = 4;

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
    struct bias *biases; // [size][kind]
    pthread_mutex_t lock;
};

// Sums over the trials of a load: relative errors of a count, errors of the level-1 shares in points, and their
// squares.
struct bias {
    double n, count, count_squares, shares[LEVEL1_MAX], share_squares[LEVEL1_MAX];
};

static unsigned n_kinds(void) { return (unsigned)(load_n_kinds + load_n_correlated); }

static const struct load_kind *kind_at(unsigned kind) {
    return kind < load_n_kinds ? &load_kinds[kind] : &load_correlated[kind - load_n_kinds];
}

// Where the PMU needs fewer event groups, the last ones stand for others.
struct plan *sizes_plan(const void *request) {
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
    for (unsigned u = 0; u < plan->n_units; u++)
        plan->units[u].slots = 0;
    for (unsigned i = 0; i < n; i++)
        plan->units[plan->round[i]].slots++;
    for (unsigned u = 0; u < plan->n_units; u++)
        if (plan->units[u].slots == 0)
            plan->units[u].n_groups = 0; // not measured, and not all the time either
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
    printf("\ntwelve event groups of equal weight, slots of");
    for (int s = 0; s < SIZE_N; s++)
        printf("%s %g ms", s > 0 ? "," : "", (double)run->settings[s].plan->slot_ns * 1e-6);
    printf("\n\n%-20s", "level 1, points");
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

static double worst_of_hard(const struct run *run, unsigned s) {
    double worst = 0;
    for (unsigned kind = 0; kind < n_kinds(); kind++)
        if (is_hard(kind_at(kind)))
            worst = fmax(worst, scores_summary(run->scores, s, METHOD_OURS, kind).p95);
    return worst;
}

static bool check_size(const struct run *run, unsigned s, bool full) {
    const struct size *size = &sizes[s];
    struct summary all = scores_summary(run->scores, s, METHOD_OURS, n_kinds());
    double few = full ? 1 : 2; // a short run's percentiles rest on few trials
    bool met = goal_check(true, size->name, "median error, points", all.median, 0, 0.1 * few);
    met = goal_check(true, size->name, "95th percentile, points", all.p95, 0, size->p95 * few) && met;
    met = goal_check(full, size->name, "95th percentile, worst of hot, migrating, correlated", worst_of_hard(run, s), 0,
                     size->worst) &&
          met;
    double margin = full ? 0 : 200 * all.error;
    met = goal_check(true, size->name, "intervals with the truth inside, %", 100 * all.inside, 93 - margin, 100) && met;
    met = goal_check(full, size->name, "the same of MPKI, %", 100 * all.inside_mpki, 93, 100) && met;
    met = goal_check(true, size->name, "interrupts of a busy core, a second", interrupts(run, s, LOAD_STEADY, false), 0,
                     size->busy) &&
          met;
    return goal_check(true, size->name, "interrupts of a sleeping core, a second", interrupts(run, s, LOAD_HOT, true),
                      0, size->sleeping) &&
           met;
}

// Makes the settings; slot_ms 0: each with the daemon's length of slots.
static void begin_sizes(struct run *run, const struct plan_request *request, const double *rates, unsigned slot_ms) {
    run->scores = scores_new(n_kinds());
    for (int s = 0; s < SIZE_N; s++) {
        struct plan_request own = *request;
        own.slot_ns = slot_ms > 0 ? slot_ms * UINT64_C(1000000) : schedule_slot_ns(sizes[s].cpus);
        run->settings[s] =
            (struct setting){.name = sizes[s].name, .n_cpus = sizes[s].cpus, .rates = rates, .seconds = MINUTE};
        setting_init(&run->settings[s], sizes_plan, &own);
        run->settings[s].n_counters = run->settings[s].plan->general_counters;
    }
}

static void run_sizes(struct run *run, const struct plan_request *request, const double *rates, unsigned slot_ms,
                      unsigned threads) {
    begin_sizes(run, request, rates, slot_ms);
    jobs_run(SIZE_N * n_kinds() * run->seeds, threads, run_one, run);
}

static void end_sizes(struct run *run) {
    scores_free(run->scores);
    for (int s = 0; s < SIZE_N; s++)
        setting_deinit(&run->settings[s]);
}

bool sizes_check(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads, bool full) {
    struct run run = {.seeds = seeds, .lock = PTHREAD_MUTEX_INITIALIZER};
    bool met = true;
    run_sizes(&run, request, rates, 0, threads);
    print_sizes(&run);
    for (unsigned s = 0; s < SIZE_N; s++)
        met = check_size(&run, s, full) && met;
    end_sizes(&run);
    return met;
}

void sizes_print_curve(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads) {
    static const unsigned lengths_ms[] = {100, 200, 375, 750, 1000};
    printf(
        "\ntwelve event groups of equal weight: interrupts a second of a busy and of a sleeping core; level 1, points:"
        " median / 95th percentile of all loads, the largest of hot, migrating and correlated ones\n\n%-8s",
        "slot");
    for (int s = 0; s < SIZE_N; s++)
        printf(" %38s", sizes[s].name);
    printf("\n");
    for (size_t i = 0; i < sizeof lengths_ms / sizeof *lengths_ms; i++) {
        struct run run = {.seeds = seeds, .lock = PTHREAD_MUTEX_INITIALIZER};
        run_sizes(&run, request, rates, lengths_ms[i], threads);
        printf("%5u ms", lengths_ms[i]);
        for (unsigned s = 0; s < SIZE_N; s++) {
            struct summary all = scores_summary(run.scores, s, METHOD_OURS, n_kinds());
            printf("     %5.1f, %5.2f; %5.2f / %5.2f, %5.2f", interrupts(&run, s, LOAD_STEADY, false),
                   interrupts(&run, s, LOAD_HOT, true), all.median, all.p95, worst_of_hard(&run, s));
        }
        printf("\n");
        (void)fflush(stdout);
        end_sizes(&run);
    }
}

// ---- bias ----

static unsigned n_bias_kinds(void) { return n_kinds() + (unsigned)load_n_sleepers; }

static void add_bias(struct bias *bias, const struct plan *plan, const struct outcome *outcome) {
    double error = outcome->count / outcome->true_count - 1;
    bias->n++;
    bias->count += error;
    bias->count_squares += error * error;
    for (size_t m = 0, i = 0; m < plan->n_metrics && i < LEVEL1_MAX; m++)
        if (comparison_level1(plan->catalog, plan->metrics[m].metric)) {
            double points = 100 * (outcome->value[m] - outcome->truth[m]);
            bias->shares[i] += points;
            bias->share_squares[i++] += points * points;
        }
}

static void run_bias(void *context, unsigned job) {
    struct run *run = context;
    unsigned seed = job % run->seeds, kind = job / run->seeds % n_bias_kinds();
    unsigned s = SIZE_N - 1 - job / run->seeds / n_bias_kinds();
    const struct plan *plan = run->settings[s].plan;
    struct outcome outcome;
    outcome_init(&outcome, plan->n_metrics);
    trial_run(&run->settings[s], kind < n_kinds() ? kind_at(kind) : &load_sleepers[kind - n_kinds()], METHOD_OURS,
              1000 + seed, &outcome);
    pthread_mutex_lock(&run->lock);
    add_bias(&run->biases[s * n_bias_kinds() + kind], plan, &outcome);
    pthread_mutex_unlock(&run->lock);
    outcome_deinit(&outcome);
}

static double standard_error(double n, double sum, double squares) {
    return sqrt(fmax(squares / n - sum / n * (sum / n), 0) / fmax(n - 1, 1));
}

// Prints the count's and the worst share's mean error, each with its standard error.
static bool check_bias(const struct bias *bias) {
    double count = bias->count / bias->n, error = standard_error(bias->n, bias->count, bias->count_squares);
    double worst = 0, worst_error = 0;
    bool met = fabs(count) <= fmax(BIAS_COUNT, BIAS_ERRORS * error);
    for (size_t i = 0; i < LEVEL1_MAX; i++) {
        double share = bias->shares[i] / bias->n;
        double its_error = standard_error(bias->n, bias->shares[i], bias->share_squares[i]);
        met = met && fabs(share) <= fmax(BIAS_POINTS, BIAS_ERRORS * its_error);
        if (fabs(share) >= fabs(worst)) {
            worst = share;
            worst_error = its_error;
        }
    }
    printf("   %+6.2f (%4.2f), %+6.3f (%5.3f)%s", 100 * count, 100 * error, worst, worst_error, met ? " " : "!");
    return met;
}

bool sizes_check_bias(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads) {
    struct run run = {.seeds = seeds, .lock = PTHREAD_MUTEX_INITIALIZER};
    bool met = true;
    begin_sizes(&run, request, rates, 0);
    run.biases = calloc(SIZE_N * n_bias_kinds(), sizeof *run.biases);
    if (!run.biases)
        abort();
    jobs_run(SIZE_N * n_bias_kinds() * seeds, threads, run_bias, &run);
    printf("\nmean error (standard error) of a count in %% and of the worst level-1 share in points\n\n%-20s", "");
    for (int s = 0; s < SIZE_N; s++)
        printf(" %33s", sizes[s].name);
    printf("\n");
    for (unsigned kind = 0; kind < n_bias_kinds(); kind++) {
        printf("%-20s", kind < n_kinds() ? kind_at(kind)->name : load_sleepers[kind - n_kinds()].name);
        for (unsigned s = 0; s < SIZE_N; s++)
            met = check_bias(&run.biases[s * n_bias_kinds() + kind]) && met;
        printf("\n");
    }
    free(run.biases);
    end_sizes(&run);
    return met;
}
