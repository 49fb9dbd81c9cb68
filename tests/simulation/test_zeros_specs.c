// SPDX-License-Identifier: Apache-2.0
#include <glob.h>

#include "tests/simulation/zeros_check.h"

// A zero is a zero: on a host of each shipped spec whose optional units are idle no metric is lost for it, and no
// verdict differs from that of a host on which each of these events happens once in a window.

enum { ROUNDS = 2, VERDICT_MAX = 2048 };

// ---- which events may be silent without a division by zero ----

// What a CPU counts in a second.
static double *counts_of(struct pipeline *p) {
    double *counts = calloc(p->catalog->n_events, sizeof *counts);
    assert_non_null(counts);
    for (unsigned e = 0; e < p->catalog->n_events; e++) // of the kinds that no PMU counts: any number
        counts[e] =
            p->catalog->events[e].kind == EVENT_COUNTED ? rate_of(p, p->catalog->events[e].name)->per_second : 1;
    return counts;
}

static void evaluate(const struct catalog *catalog, const double *counts, double *values) {
    for (unsigned m = 0; m < catalog->n_metrics; m++)
        values[m] = formula_evaluate_known(catalog->metrics[m].formula, counts, values);
}

static bool loses_one(const struct catalog *catalog, const double *counts, const double *before, double *values) {
    bool loses = false;
    evaluate(catalog, counts, values);
    for (unsigned m = 0; m < catalog->n_metrics && !loses; m++)
        loses = isnan(values[m]) && !isnan(before[m]);
    return loses;
}

// Silences one event after the other, as long as no formula divides by zero for it. Returns how many; before[metric] is
// its value while all events happen.
static size_t silence_idle_units(struct pipeline *p, double per_second, double *before) {
    const struct catalog *catalog = p->catalog;
    double *counts = counts_of(p), *values = calloc(catalog->n_metrics, sizeof *values);
    size_t n = 0;
    assert_non_null(values);
    evaluate(catalog, counts, before);
    for (unsigned e = CATALOG_CPU_SECONDS + 1; e < catalog->n_events; e++) {
        double count = counts[e];
        if (!is_optional(p, e))
            continue;
        counts[e] = 0;
        if (!shares_code(catalog, e) && !loses_one(catalog, counts, before, values)) {
            set_rate(p, catalog->events[e].name, per_second);
            n++;
        } else {
            counts[e] = count;
        }
    }
    free(values);
    free(counts);
    return n;
}

// ---- the hosts ----

static void run(struct pipeline *p) {
    pipeline_start(p, ZEROS_SLOT_NS, 1, NULL);
    pipeline_run(p, ROUNDS);
}

static void fail_metric(const struct pipeline *p, size_t m) {
    fail_msg("%s: %s is %.17g (%s)", p->catalog->product.spec, p->catalog->metrics[p->plan->metrics[m].metric].name,
             p->snapshot->values[snapshot_metric(p->layout, 0, m)], absent_text((enum absent)p->snapshot->absent[m]));
}

// What the host is bound by where the idle units' events happen never, or so often.
static void tell_with(const char *spec, double per_second, char verdict[VERDICT_MAX]) {
    struct pipeline p;
    pipeline_load_spec(&p, spec, 20260101);
    double *before = calloc(p.catalog->n_metrics, sizeof *before);
    assert_non_null(before);
    assert_true(silence_idle_units(&p, per_second, before) > 0 || p.catalog->n_events < 20);
    run(&p);
    for (size_t m = 0; m < p.plan->n_metrics && per_second == 0; m++) {
        bool unknown = isnan(before[p.plan->metrics[m].metric]); // such as a literal of hosts that nobody simulates
        if (p.plan->metrics[m].unit != PLAN_NOT_PLANNABLE && !unknown &&
            (!is_true(&p, m) || p.snapshot->absent[m] != ABSENT_NOT))
            fail_metric(&p, m);
    }
    free(before);
    tell_bound(&p, verdict, VERDICT_MAX);
    pipeline_stop(&p);
}

static void check_idle_units(const char *spec) {
    char zero[VERDICT_MAX], tiny[VERDICT_MAX];
    tell_with(spec, 0, zero);
    tell_with(spec, ONE_A_WINDOW, tiny);
    if (strcmp(zero, tiny) != 0)
        fail_msg("%s is bound by %s instead of %s", spec, zero, tiny);
}

static void check_all_silent(const char *spec, uint64_t one_in) {
    struct pipeline p;
    pipeline_load_spec(&p, spec, 20260101);
    set_optional(&p, 0, one_in, one_in);
    run(&p);
    for (size_t m = 0; m < p.plan->n_metrics; m++)
        if (p.plan->metrics[m].unit != PLAN_NOT_PLANNABLE && !is_true(&p, m))
            fail_metric(&p, m);
    pipeline_stop(&p);
}

// ---- all specs ----

static void each_spec(void (*check)(const char *spec)) {
    glob_t specs;
    assert_int_equal(glob("specs/*.json", 0, NULL, &specs), 0);
    assert_true(specs.gl_pathc > 50);
    for (size_t i = 0; i < specs.gl_pathc; i++) {
        char spec[128];
        (void)snprintf(spec, sizeof spec, "%s", strrchr(specs.gl_pathv[i], '/') + 1);
        *strrchr(spec, '.') = '\0';
        if (strcmp(spec, "cpus") != 0)
            check(spec);
    }
    globfree(&specs);
}

static void test_idle_units_cost_no_metric_and_turn_no_verdict(void **state) {
    (void)state;
    each_spec(check_idle_units);
}

static void check_silent(const char *spec) {
    check_all_silent(spec, 1);
    check_all_silent(spec, 2);
}

static void test_where_all_that_may_be_silent_is_only_a_division_by_zero_has_no_value(void **state) {
    (void)state;
    each_spec(check_silent);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_units_cost_no_metric_and_turn_no_verdict),
        cmocka_unit_test(test_where_all_that_may_be_silent_is_only_a_division_by_zero_has_no_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
