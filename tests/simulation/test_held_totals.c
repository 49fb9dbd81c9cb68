// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/held_host.h"

#include <time.h>

// The counts of cores that sleep, and are held on their event group, are right all the same (core/plan/schedule.h).

// A total of all CPUs of a kind, and its truth.
struct total {
    double is[KIND_N], truth[KIND_N];
};

enum { FIRST_CATEGORY = 3, TOTALS = FIRST_CATEGORY + 2 };
static const char *const TOTAL_NAMES[TOTALS] = {"INST_RETIRED", "BR_MIS_PRED_RETIRED", "L1D_CACHE_REFILL",
                                                "frontend_bound", "backend_bound"};

static size_t category_place(const struct pipeline *p, const char *name) {
    const struct catalog_level1 *level1 = &p->catalog->level1;
    for (size_t i = 0; i < level1->n_categories; i++)
        if (strcmp(p->catalog->metrics[level1->categories[i].metric].name, name) == 0)
            return i;
    fail_msg("no category %s", name);
    return 0;
}

// Both are sums of events, so that the truth does not depend on which windows there were.
static double true_category(const struct pipeline *p, size_t scope, const char *name) {
    size_t m = 0;
    while (strcmp(p->catalog->metrics[p->plan->metrics[m].metric].name, name) != 0)
        m++;
    double share = pipeline_truth(p, scope, m, p->start_ns, p->snapshot->end_ns);
    double slots = 0;
    for (size_t cpu = 0; cpu < CORES; cpu++)
        if (scope == snapshot_scope_cpu(p->layout, cpu))
            slots =
                8 * pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id,
                                  p->layout->events[event_place(p, "CPU_CYCLES")], p->start_ns, p->snapshot->end_ns);
    return slots > 0 ? share * slots : 0;
}

// All events of a core happen in the same bursts, half of which have other rates.
static void add_totals(const struct pipeline *p, struct total *totals) {
    const double *values = p->snapshot->values;
    for (size_t cpu = 0; cpu < CORES; cpu++) {
        enum kind kind = kind_of(cpu);
        size_t scope = snapshot_scope_cpu(p->layout, cpu);
        for (size_t i = 0; i < FIRST_CATEGORY; i++) {
            size_t e = event_place(p, TOTAL_NAMES[i]);
            totals[i].is[kind] += values[snapshot_event(p->layout, scope, e)];
            totals[i].truth[kind] += pmu_sim_truth(p->recorder.inner, p->topology->cpus[cpu].id, p->layout->events[e],
                                                   p->start_ns, p->snapshot->end_ns);
        }
        for (size_t i = FIRST_CATEGORY; i < TOTALS; i++) {
            totals[i].is[kind] += values[snapshot_category(p->layout, scope, category_place(p, TOTAL_NAMES[i]))];
            totals[i].truth[kind] += true_category(p, scope, TOTAL_NAMES[i]);
        }
    }
}

// Sums of all seeds, and of their squares, so that their spread is the bound.
struct bias {
    double sum, squares;
    size_t n;
};

static void add_bias(struct bias *bias, double is, double truth) {
    double relative = is / truth - 1;
    bias->sum += relative;
    bias->squares += relative * relative;
    bias->n++;
}

// The mean of relative errors is within 4.5 of its standard errors, which are small enough to tell.
static void check_bias(const struct bias *bias, double most, const char *kind, const char *what) {
    double n = (double)bias->n, mean = bias->sum / n;
    double error = sqrt(fmax(bias->squares / n - mean * mean, 0) / (n - 1));
    print_message("  %-20s %-22s bias %+.4f +/- %.4f\n", kind, what, mean, error);
    if (error > most)
        fail_msg("%s, %s: the standard error of %g shows nothing", kind, what, error);
    if (!(fabs(mean) <= 4.5 * error + 0.002))
        fail_msg("%s, %s: biased by %g +/- %g", kind, what, mean, error);
}

static uint64_t seed_begin(void) {
    const char *given = getenv("SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %llu (repeat with SEED=)\n", (unsigned long long)seed);
    return seed;
}

enum { SEEDS = 24, SECONDS = 270 };

static void test_totals_are_unbiased_whatever_sleeps_and_wakes(void **state) {
    (void)state;
    static const double most[KIND_N] = {0.01, 0.06, 0.04, 0.03, 0.03, 0};
    static struct bias biases[TOTALS][KIND_N], host[TOTALS];
    uint64_t random = seed_begin();
    memset(biases, 0, sizeof biases);
    memset(host, 0, sizeof host);
    for (int i = 0; i < SEEDS; i++) {
        struct held held;
        struct total totals[TOTALS] = {0};
        held_load(&held);
        for (size_t core = 0; core < CORES; core++)
            make_bursts(&held.bursts[core], kind_of(core), &random);
        held_start(&held, random_next(&random));
        pipeline_run_until(&held.p, SECONDS);
        assert_all_accounted(&held.p, 1e-9);
        add_totals(&held.p, totals);
        for (size_t t = 0; t < TOTALS; t++) {
            double is = 0, truth = 0;
            for (size_t kind = 0; kind < KIND_N; kind++) {
                is += totals[t].is[kind];
                truth += totals[t].truth[kind];
                if (kind == ASLEEP)
                    assert_true(totals[t].is[kind] == 0); // nothing is invented
                else
                    add_bias(&biases[t][kind], totals[t].is[kind], totals[t].truth[kind]);
            }
            add_bias(&host[t], is, truth);
        }
        held_stop(&held);
    }
    for (size_t t = 0; t < TOTALS; t++) {
        for (size_t kind = 0; kind < ASLEEP; kind++)
            check_bias(&biases[t][kind], most[kind], KIND_NAMES[kind], TOTAL_NAMES[t]);
        check_bias(&host[t], 0.02, "the host", TOTAL_NAMES[t]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_totals_are_unbiased_whatever_sleeps_and_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
