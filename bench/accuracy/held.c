// SPDX-License-Identifier: Apache-2.0
#include "bench/accuracy/held.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/accuracy/goals.h"
#include "bench/accuracy/jobs.h"
#include "bench/accuracy/sizes.h"
#include "core/plan/schedule.h"

enum { CPUS = 8, MINUTE = 60, RARE_N = 2 };
static const unsigned RARE_CPUS[RARE_N] = {16, 32};

struct run {
    struct setting setting;
    struct setting rare[RARE_N];      // a thread that migrates over more CPUs, and visits each more rarely
    const struct load_kind *migrates; // that thread
    const struct load_kind *kinds[SCORE_KINDS_MAX];
    unsigned n_kinds, seeds;
    struct scores *scores;
    pthread_mutex_t lock;
};

// Loads of which one CPU sleeps most of the time: the first one is judged.
static void choose_kinds(struct run *run) {
    for (size_t k = 0; k < load_n_kinds; k++)
        if (load_kinds[k].off == MIX_IDLE && load_kinds[k].shape != LOAD_HOT)
            run->kinds[run->n_kinds++] = &load_kinds[k];
    for (size_t k = 0; k < load_n_kinds; k++)
        run->migrates = load_kinds[k].shape == LOAD_MIGRATING ? &load_kinds[k] : run->migrates;
    for (size_t k = 0; k < load_n_sleepers; k++)
        run->kinds[run->n_kinds++] = &load_sleepers[k];
}

static void run_one(void *context, unsigned job) {
    struct run *run = context;
    unsigned seed = job % run->seeds, kind = job / run->seeds, rare = kind < run->n_kinds ? 0 : 1 + kind - run->n_kinds;
    const struct setting *setting = rare > 0 ? &run->rare[rare - 1] : &run->setting;
    const struct plan *plan = setting->plan;
    struct outcome outcome;
    outcome_init(&outcome, plan->n_metrics);
    trial_run(setting, rare > 0 ? run->migrates : run->kinds[kind], METHOD_OURS, 1000 + seed, &outcome);
    pthread_mutex_lock(&run->lock);
    score_take(&run->scores->of[rare][METHOD_OURS][rare > 0 ? 0 : kind], plan, true, &outcome);
    pthread_mutex_unlock(&run->lock);
    outcome_deinit(&outcome);
}

static void print_row(const char *name, const struct summary *ours) {
    printf("%-20s   %5.2f / %5.2f %7.1f %% (%4.1f) %7.2f %7.1f %% %5.1f %%\n", name, ours->median, ours->p95,
           100 * ours->inside, 100 * ours->error, ours->width, 100 * ours->inside_mpki, 100 * ours->inside_gauge);
}

static void print(const struct run *run) {
    printf("\none CPU of %d that sleeps: %g s, twelve event groups of equal weight\n\n%-20s", CPUS,
           run->setting.seconds, "level 1, points");
    printf(" %15s %16s %7s %9s %7s\n", "topdownd", "interval (error)", "width", "of MPKI", "gauge");
    for (unsigned kind = 0; kind <= run->n_kinds; kind++) {
        struct summary ours = scores_summary(run->scores, 0, METHOD_OURS, kind);
        print_row(kind < run->n_kinds ? run->kinds[kind]->name : "all", &ours);
    }
    for (unsigned rare = 0; rare < RARE_N; rare++) {
        char name[32];
        struct summary ours = scores_summary(run->scores, 1 + rare, METHOD_OURS, 0);
        (void)snprintf(name, sizeof name, "%s, of %u", run->migrates->name, RARE_CPUS[rare]);
        print_row(name, &ours);
    }
    printf("\n");
}

static bool check(const struct run *run, bool full) {
    struct summary all = scores_summary(run->scores, 0, METHOD_OURS, run->n_kinds);
    double margin = full ? 0 : 200 * all.error, least = 1;
    for (unsigned kind = 0; kind < run->n_kinds; kind++) {
        struct summary ours = scores_summary(run->scores, 0, METHOD_OURS, kind);
        least = fmin(least, fmin(ours.inside + ours.error, ours.inside_mpki + ours.error));
    }
    bool met = goal_check(true, "asleep", "intervals with the truth inside, %", 100 * all.inside, 93.5 - margin,
                          96.5 + margin);
    met = goal_check(true, "asleep", "the same of MPKI, %", 100 * all.inside_mpki, 93.5 - margin, 96.5 + margin) && met;
    for (unsigned rare = 0; rare < RARE_N; rare++) {
        struct summary ours = scores_summary(run->scores, 1 + rare, METHOD_OURS, 0);
        double few = full ? 0 : 200 * ours.error; // as much for MPKI
        met =
            goal_check(true, "visited", "intervals with the truth inside, %", 100 * ours.inside, 93 - few, 100) && met;
        met = goal_check(true, "visited", "the same of MPKI, %", 100 * ours.inside_mpki, 93 - few, 100) && met;
    }
    met = goal_check(full, "asleep", "the same, worst load, with its standard error, %", 100 * least, 93, 100) && met;
    return goal_check(true, "asleep", "the same of single rounds, %", 100 * all.inside_gauge, 93 - margin, 100) && met;
}

static void begin(struct setting *setting, unsigned cpus, const struct plan_request *request, const double *rates) {
    struct plan_request own = *request;
    *setting = (struct setting){.n_cpus = cpus, .rates = rates, .seconds = MINUTE, .first_only = true};
    own.slot_ns = schedule_slot_ns(cpus);
    setting_init(setting, sizes_plan, &own);
    setting->n_counters = setting->plan->general_counters;
}

bool held_check(const struct plan_request *request, const double *rates, unsigned seeds, unsigned threads, bool full) {
    struct run run = {.seeds = seeds, .lock = PTHREAD_MUTEX_INITIALIZER};
    choose_kinds(&run);
    run.scores = scores_new(run.n_kinds);
    begin(&run.setting, CPUS, request, rates);
    for (size_t rare = 0; rare < RARE_N; rare++)
        begin(&run.rare[rare], RARE_CPUS[rare], request, rates);
    jobs_run((run.n_kinds + RARE_N) * seeds, threads, run_one, &run);
    print(&run);
    bool met = check(&run, full);
    for (size_t rare = 0; rare < RARE_N; rare++)
        setting_deinit(&run.rare[rare]);
    setting_deinit(&run.setting);
    scores_free(run.scores);
    return met;
}
