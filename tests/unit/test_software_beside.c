// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include <glob.h>

#include "config/spec/spec_json.h"

// The kernel's software events beside those of a core PMU: the same on every CPU, and they cost no counter's time.

static const char *const NAMES[] = {"context_switches_per_second", "task_migrations_per_second",
                                    "minor_faults_per_second",     "major_faults_per_second",
                                    "alignment_faults_per_second", "emulation_faults_per_second"};

static struct catalog *with_software(struct catalog_builder *builder) {
    struct errors errors = {0};
    if (spec_json_add("specs/software.json", &errors, builder) != 0 || errors.n > 0)
        fail_msg("%s", errors.items[0].text);
    return catalog_builder_finish(builder);
}

static struct catalog *load(const char *path) {
    struct errors errors = {0};
    struct catalog_builder *builder;
    assert_int_equal(spec_json_read(path, NULL, &errors, &builder), 0);
    return with_software(builder);
}

static const struct catalog_metric *exported(const struct catalog *catalog, const char *name) {
    for (size_t m = 0; m < catalog->n_metrics; m++)
        if (strcmp(catalog->metrics[m].export_name, name) == 0)
            return &catalog->metrics[m];
    fail_msg("%s lacks %s", catalog->product.spec, name);
    return NULL;
}

static void check_same(const struct catalog *catalog, const struct catalog *alone) {
    for (size_t i = 0; i < N_OF(NAMES); i++) {
        const struct catalog_metric *here = exported(catalog, NAMES[i]), *there = exported(alone, NAMES[i]);
        assert_string_equal(here->name, there->name);
        assert_string_equal(here->formula_text, there->formula_text);
        assert_string_equal(here->vendor, "Linux");
        assert_true(here->rate_threshold == there->rate_threshold);
        assert_string_equal(here->rate_advice, there->rate_advice);
        unsigned event = here->formula->variables[here->formula->variables[0] == CATALOG_CPU_SECONDS];
        assert_string_equal(catalog->pmus[catalog->events[event].code.pmu], "software");
        assert_true(catalog->events[event].code.config ==
                    alone->events[catalog_find_event(alone, catalog->events[event].name)].code.config);
        assert_true(catalog->events[event].need.free && !catalog->events[event].must_count);
    }
    const struct catalog_group *group = &catalog->groups[catalog_find_group(catalog, "Software")];
    assert_int_equal(group->n_metrics, 4);
}

static void test_every_cpu_has_the_software_hosts_metrics_under_their_names(void **state) {
    (void)state;
    struct errors errors = {0};
    struct catalog *alone;
    glob_t files;
    size_t n = 0;
    assert_int_equal(spec_json_load("specs/software.json", NULL, &errors, &alone), 0);
    assert_int_equal(glob("specs/*.json", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        if (strstr(files.gl_pathv[i], "cpus.json") || strstr(files.gl_pathv[i], "software.json"))
            continue;
        struct catalog *catalog = load(files.gl_pathv[i]);
        check_same(catalog, alone);
        catalog_free(catalog);
        n++;
    }
    assert_true(n > 30);
    globfree(&files);
    catalog_free(alone);
}

static struct plan *plan_with(const struct catalog *catalog, size_t n) {
    const struct plan_selection selections[] = {{(unsigned)catalog_find_group(catalog, "stage_1"), 0},
                                                {(unsigned)catalog_find_group(catalog, "Software"), 0}};
    return build_plan(&(struct plan_request){.catalog = catalog,
                                             .general_counters = catalog->general_counters,
                                             .selections = selections,
                                             .n_selections = n,
                                             .slot_ns = SLOT_NS,
                                             .idle = 0.1});
}

static void test_they_count_all_the_time_and_take_nothing_from_the_others(void **state) {
    (void)state;
    static const char *const specs[] = {"specs/neoverse-v2.json", "specs/zen4.json", "specs/sapphire-rapids.json"};
    for (size_t i = 0; i < N_OF(specs); i++) {
        struct catalog *catalog = load(specs[i]);
        struct plan *plan = plan_with(catalog, 2), *without = plan_with(catalog, 1);
        assert_int_equal(plan_n_rotating(plan), plan_n_rotating(without));
        assert_int_equal(plan->n_groups, without->n_groups + 1);
        assert_int_equal(plan->round_ns, without->round_ns);
        const struct plan_group *group = &plan->groups[plan->n_groups - 1];
        assert_string_equal(group->name, "software");
        assert_int_equal(group->n_events, 4);
        assert_true(plan_group_stands(plan, (unsigned)plan->n_groups - 1));
        plan_free(plan);
        plan_free(without);
        catalog_free(catalog);
    }
}

// A vendor's file may have an entry of the same name: it stays what the vendor says.
static void test_what_the_catalog_has_stays(void **state) {
    (void)state;
    static const char *const names[] = {"CONTEXT_SWITCHES", "B"};
    struct catalog_builder *builder = builder_of(names, N_OF(names));
    struct fault fault;
    metric_of(builder, "minor_faults", "CONTEXT_SWITCHES / B", NULL);
    const struct catalog_metric_text theirs = {.name = "theirs",
                                               .export_name = "task_migrations_per_second",
                                               .title = "Theirs",
                                               .formula = "B / CONTEXT_SWITCHES"};
    assert_true(catalog_builder_add_metric(builder, &theirs, &fault) >= 0);
    group_of(builder, "Software", "minor_faults");
    struct catalog *catalog = with_software(builder);
    assert_int_equal(catalog->events[catalog_find_event(catalog, "CONTEXT_SWITCHES")].code.pmu, 0);
    assert_string_equal(catalog->metrics[catalog_find_metric(catalog, "minor_faults")].formula_text,
                        "CONTEXT_SWITCHES / B");
    assert_string_equal(exported(catalog, "task_migrations_per_second")->name, "theirs");
    assert_int_equal(catalog->groups[catalog_find_group(catalog, "Software")].n_metrics, 1);
    assert_true(catalog_find_metric(catalog, "major_faults") >= 0);
    catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cpu_has_the_software_hosts_metrics_under_their_names),
        cmocka_unit_test(test_they_count_all_the_time_and_take_nothing_from_the_others),
        cmocka_unit_test(test_what_the_catalog_has_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
