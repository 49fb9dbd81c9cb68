// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/core_check.h"

#include <glob.h>
#include <math.h>

#include "config/spec/spec_json.h"

// The exports of every shipped spec on nearly idle CPUs: most events never happen, so ratios are 0/0. An exported value
// equals perf's and is the same for any values of the metrics that have none; many of perf's are not.

enum { TRIALS = 40 };

struct numbers {
    size_t exported, absent, invented; // perf has a value for what is not known
};

struct values {
    double *counts;
    double *perf, *known, *guessed; // of the catalog's metrics
};

static double *room(size_t n) {
    double *values = calloc(n + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static void check_metric(const struct catalog *catalog, size_t m, struct values *v, uint64_t *random,
                         struct numbers *numbers) {
    const struct catalog_metric *metric = &catalog->metrics[m];
    v->perf[m] = formula_evaluate(metric->formula, v->counts, v->perf);
    v->known[m] = formula_evaluate_known(metric->formula, v->counts, v->known);
    v->guessed[m] = isnan(v->known[m]) ? 4 * random_unit(random) - 2 : v->known[m];
    if (isnan(v->known[m])) {
        numbers->absent++;
        numbers->invented += isnan(v->perf[m]) ? 0 : 1;
        return;
    }
    numbers->exported++;
    double guessed = formula_evaluate(metric->formula, v->counts, v->guessed);
    if (v->perf[m] != v->known[m] || guessed != v->known[m])
        fail_msg("%s: %s is %g, by perf's rules %g, and %g if what is not known were otherwise", catalog->product.spec,
                 metric->name, v->known[m], v->perf[m], guessed);
}

static void check_spec(const struct catalog *catalog, uint64_t *random, struct numbers *numbers) {
    struct values v = {room(catalog->n_events), room(catalog->n_metrics), room(catalog->n_metrics),
                       room(catalog->n_metrics)};
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        for (size_t e = 0; e < catalog->n_events; e++)
            v.counts[e] = random_below(random, TRIALS) < trial ? (double)random_below(random, 1000000) : 0;
        for (size_t m = 0; m < catalog->n_metrics; m++) // each comes after those that it uses
            check_metric(catalog, m, &v, random, numbers);
    }
    free(v.guessed);
    free(v.known);
    free(v.perf);
    free(v.counts);
}

static struct catalog *load(const char *path) {
    static struct errors errors;
    struct catalog *catalog = NULL;
    if (spec_json_load(path, NULL, &errors, &catalog) < 0)
        fail_msg("%s: %s", path, errors.items[0].text);
    return catalog;
}

static void test_what_a_cpu_that_does_little_exports_is_made_of_what_is_known(void **state) {
    (void)state;
    uint64_t random = seed_begin();
    struct numbers numbers = {0};
    glob_t paths;
    assert_int_equal(glob("specs/*.json", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        if (strcmp(paths.gl_pathv[i], "specs/cpus.json") == 0)
            continue;
        struct catalog *catalog = load(paths.gl_pathv[i]);
        check_spec(catalog, &random, &numbers);
        catalog_free(catalog);
    }
    globfree(&paths);
    print_message("%zu values, %zu absent, of which perf's rules give %zu a value\n", numbers.exported, numbers.absent,
                  numbers.invented);
    assert_true(numbers.exported > 20000 && numbers.invented > 300);
}

static void test_no_metric_has_a_value_where_nothing_was_counted(void **state) {
    (void)state;
    size_t n = 0;
    glob_t paths;
    assert_int_equal(glob("specs/*.json", 0, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc; i++) {
        if (strcmp(paths.gl_pathv[i], "specs/cpus.json") == 0)
            continue;
        struct catalog *catalog = load(paths.gl_pathv[i]);
        double *counts = room(catalog->n_events), *values = room(catalog->n_metrics);
        for (size_t e = 0; e < catalog->n_events; e++)
            counts[e] = NAN;
        for (size_t m = 0; m < catalog->n_metrics; m++, n++) {
            values[m] = formula_evaluate_known(catalog->metrics[m].formula, counts, values);
            if (!isnan(values[m]))
                fail_msg("%s: %s is %g", paths.gl_pathv[i], catalog->metrics[m].name, values[m]);
        }
        free(values);
        free(counts);
        catalog_free(catalog);
    }
    globfree(&paths);
    assert_true(n > 4000);
}

// `X if it is memory bound less than 0.2, else 0` says nothing of a CPU that counts nothing.
static void test_an_idle_cpu_has_no_likelihood_of_a_core_bound(void **state) {
    (void)state;
    struct catalog *catalog = load("specs/sapphire-rapids.json");
    double *counts = room(catalog->n_events), *values = room(catalog->n_metrics);
    for (size_t m = 0; m < catalog->n_metrics; m++)
        values[m] = formula_evaluate_known(catalog->metrics[m].formula, counts, values);
    int likely = catalog_find_metric(catalog, "tma_info_botlnk_l0_core_bound_likely");
    assert_true(likely >= 0 && isnan(values[likely]));
    free(values);
    free(counts);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_cpu_that_does_little_exports_is_made_of_what_is_known),
        cmocka_unit_test(test_no_metric_has_a_value_where_nothing_was_counted),
        cmocka_unit_test(test_an_idle_cpu_has_no_likelihood_of_a_core_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
