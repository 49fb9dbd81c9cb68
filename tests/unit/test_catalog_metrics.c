// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/led_catalog.h"

#include <errno.h>
#include <math.h>

// The meaning of names in formulas, metrics of metrics, and other facts of a spec about events and metrics.

static const char *const EVENTS[] = {"CYCLES", "A", "B", "C"};

static struct catalog_builder *small(void) { return builder_of(EVENTS, N_OF(EVENTS)); }

static void refused(int r, const struct fault *error, const char *wanted) {
    if (r != -EINVAL || !strstr(error->text, wanted))
        fail_msg("got %d, \"%s\"; wanted \"%s\"", r, error->text, wanted);
}

static const struct formula *formula_of(const struct catalog *catalog, const char *metric) {
    return catalog->metrics[catalog_find_metric(catalog, metric)].formula;
}

static void test_a_ratio_is_used_by_its_value_and_a_count_is_put_in_its_place(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "share", "A / CYCLES", NULL);
    metric_of(builder, "clks", "CYCLES + B", NULL);
    metric_of(builder, "user", "share * C / clks", NULL);
    const struct formula *user = formula_of(catalog, "user");
    assert_int_equal(user->n_metrics, 1);
    assert_int_equal(user->metrics[0], 0);
    assert_int_equal(user->n_variables, 3); // CYCLES, B, C: not A
    assert_false(user->is_ratio);
    const double counts[] = {0, 10, 99, 30, 8}, values[] = {0.5};
    assert_true(formula_evaluate(user, counts, values) == 0.5 * 8 / 40);
    catalog_builder_free(builder);
}

static void test_a_metric_comes_before_an_event_and_its_own_name_is_the_event(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "A", "A / B", NULL); // of the event
    metric_of(builder, "user", "2 * A", NULL);
    assert_int_equal(formula_of(catalog, "A")->n_variables, 2);
    assert_int_equal(formula_of(catalog, "user")->n_metrics, 1);
    assert_int_equal(formula_of(catalog, "user")->n_variables, 0);
    catalog_builder_free(builder);
}

static void test_what_is_written_to_the_letter_comes_before_what_differs_in_case(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "a", "B / C", NULL);
    metric_of(builder, "of_the_event", "A / CYCLES", NULL);
    metric_of(builder, "of_the_metric", "a * 2", NULL);
    metric_of(builder, "of_any", "cycles / b", NULL);
    assert_int_equal(formula_of(catalog, "of_the_event")->n_metrics, 0);
    assert_int_equal(formula_of(catalog, "of_the_metric")->n_metrics, 1);
    assert_int_equal(formula_of(catalog, "of_any")->n_variables, 2);
    catalog_builder_free(builder);
}

static void test_a_modifier_makes_an_event_that_counts_less(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    metric_of(builder, "user_share", "A:u / A", NULL);
    int event = catalog_find_event(catalog, "A:u");
    assert_int_equal(event, 5);
    assert_int_equal(catalog->events[event].code.config, catalog->events[2].code.config);
    assert_int_equal(catalog->events[event].code.exclude, PMU_EXCLUDE_KERNEL | PMU_EXCLUDE_HYPERVISOR);
    metric_of(builder, "again", "A:u / B", NULL);
    assert_int_equal(catalog->n_events, 6);
    static const char *const wrong[] = {"A:x / B", "A: / B", "A:uu / B", "NOPE:u / B", "cpu_seconds:u / B"};
    for (size_t i = 0; i < N_OF(wrong); i++) {
        const struct catalog_metric_text text = {.name = "m", .formula = wrong[i]};
        assert_int_equal(catalog_builder_add_metric(builder, &text, &error), -EINVAL);
    }
    assert_int_equal(catalog->n_events, 6);
    catalog_builder_free(builder);
}

static void test_time_and_core_wide_are_no_counts_so_there_is_nothing_to_sum(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "rate", "A / duration_time", NULL);
    metric_of(builder, "wide", "A / B if #core_wide < 1 else A / C", NULL);
    metric_of(builder, "rate_of_cpus", "A / cpu_seconds", NULL);
    assert_false(formula_of(catalog, "rate")->is_ratio);
    assert_false(formula_of(catalog, "wide")->is_ratio);
    assert_true(formula_of(catalog, "rate_of_cpus")->is_ratio);
    assert_int_equal(catalog->events[5].kind, EVENT_DURATION);
    assert_int_equal(catalog->events[6].kind, EVENT_CORE_WIDE);
    assert_true(catalog->events[5].need.free && catalog->events[6].need.free);
    metric_of(builder, "rate2", "B / duration_time", NULL);
    assert_int_equal(catalog->n_events, 7);
    catalog_builder_free(builder);
}

static void test_without_smt_a_cpu_is_a_core(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct environment environment;
    environment_init(&environment);
    environment.facts.literals[LITERAL_SMT_ON] = 0;
    catalog_builder_set_environment(builder, &environment);
    metric_of(builder, "wide", "A / B if #core_wide < 1 else A / C", NULL);
    const struct formula *wide = formula_of(catalog, "wide");
    assert_true(wide->is_ratio);
    assert_int_equal(wide->n_variables, 2);
    assert_int_equal(wide->variables[1], 4); // C
    catalog_builder_free(builder);
}

static void test_what_needs_an_unmeasurable_metric_names_it(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    const struct catalog_metric_text lost = {.name = "lost", .formula = "UNCORE / B"};
    assert_int_equal(catalog_builder_add_unmeasurable(builder, &lost, "nobody counts UNCORE", &error), 0);
    assert_string_equal(catalog->metrics[0].unmeasurable, "nobody counts UNCORE");
    assert_string_equal(catalog->metrics[0].formula_text, "UNCORE / B");
    metric_of(builder, "user", "lost + A / B", NULL);
    assert_int_equal(formula_of(catalog, "user")->n_metrics, 1);
    catalog_builder_free(builder);
}

// ---- metrics that stand further down ----

struct chain {
    struct catalog_builder *builder;
    unsigned n; // m0 uses m1, which uses m2, and so on
};

static int add_link(struct chain *chain, unsigned i, struct fault *error) {
    char name[16], formula[32];
    (void)snprintf(name, sizeof name, "m%u", i);
    (void)snprintf(formula, sizeof formula, i + 1 < chain->n ? "m%u * 2" : "A / B", i + 1);
    return catalog_builder_add_metric(chain->builder, &(struct catalog_metric_text){.name = name, .formula = formula},
                                      error);
}

static int resolve_link(void *context, const char *name, struct fault *error) {
    struct chain *chain = context;
    if (name[0] != 'm' || catalog_find_metric(catalog_builder_catalog(chain->builder), name) >= 0)
        return 0;
    int r = add_link(chain, (unsigned)strtoul(name + 1, NULL, 10), error);
    return r < 0 ? r : 0;
}

static int add_chain(unsigned n, struct fault *error) {
    struct chain chain = {.builder = small(), .n = n};
    const struct catalog_resolver resolver = {.resolve = resolve_link, .context = &chain};
    catalog_builder_set_resolver(chain.builder, &resolver);
    int r = add_link(&chain, 0, error);
    if (r < 0) { // as deep a chain as there may be can still be added
        struct fault none;
        chain.n = CATALOG_DEPTH_MAX;
        assert_true(add_link(&chain, 0, &none) >= 0);
    }
    assert_int_equal(catalog_builder_catalog(chain.builder)->n_metrics, chain.n);
    catalog_builder_free(chain.builder);
    return r;
}

static void test_a_resolver_is_asked_a_bounded_depth(void **state) {
    (void)state;
    struct fault error;
    assert_int_equal(add_chain(CATALOG_DEPTH_MAX, &error), CATALOG_DEPTH_MAX - 1);
    refused(add_chain(CATALOG_DEPTH_MAX + 1, &error), &error, "more than 64 deep");
    refused(add_chain(100000, &error), &error, "more than 64 deep");
}

// ---- what refers to others ----

static void test_a_parent_is_a_metric_and_never_below_its_child(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    static const char *const names[] = {"top", "middle", "low"};
    for (unsigned i = 0; i < 3; i++) {
        metric_of(builder, names[i], "A / B", NULL);
        assert_int_equal(catalog->metrics[i].parent, -1);
    }
    assert_int_equal(catalog_builder_set_parent(builder, 2, "middle", &error), 0);
    assert_int_equal(catalog_builder_set_parent(builder, 1, "top", &error), 0);
    assert_int_equal(catalog->metrics[2].parent, 1);
    refused(catalog_builder_set_parent(builder, 0, "low", &error), &error, "its parent low is below it");
    refused(catalog_builder_set_parent(builder, 0, "top", &error), &error, "its parent top is below it");
    refused(catalog_builder_set_parent(builder, 0, "none", &error), &error, "its parent none is no metric");
    assert_int_equal(catalog->metrics[0].parent, -1);
    catalog_builder_free(builder);
}

static void test_a_threshold_is_over_values_of_metrics(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    metric_of(builder, "share", "A / B", NULL);
    metric_of(builder, "count", "C", NULL);
    assert_int_equal(catalog_builder_set_threshold(builder, 0, "share > 0.2 & count > 5", &error), 0);
    const double values[] = {0.3, 6};
    assert_true(formula_evaluate(catalog->metrics[0].threshold, NULL, values) == 1);
    refused(catalog_builder_set_threshold(builder, 0, "share > 0.2 & CYCLES > 5", &error), &error, "names CYCLES");
    refused(catalog_builder_set_threshold(builder, 0, "share > ", &error), &error, "column");
    assert_string_equal(catalog->metrics[0].threshold_text, "share > 0.2 & count > 5");
    assert_int_equal(catalog_builder_set_threshold(builder, 0, "share > 0.9", &error), 0);
    assert_true(formula_evaluate(catalog->metrics[0].threshold, NULL, values) == 0);
    catalog_builder_free(builder);
}

static void test_a_node_leads_to_metrics_and_groups_that_exist(void **state) {
    (void)state;
    struct catalog_builder *builder = small();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault error;
    static const char *const next[] = {"other", "Deep_Group"}, *const nowhere[] = {"other", "Nowhere"};
    metric_of(builder, "share", "A / B", NULL);
    metric_of(builder, "other", "A / C", NULL);
    group_of(builder, "Deep_Group", "other");
    assert_int_equal(catalog_builder_add_node(builder, "share", true, next, 2, &error), 0);
    assert_int_equal(catalog->nodes[0].n_next, 2);
    assert_string_equal(catalog->nodes[0].next[1].name, "Deep_Group");
    assert_int_equal(catalog_builder_add_sample(builder, 0, "B", &error), 0);
    assert_int_equal(catalog_builder_add_sample(builder, 0, "A", &error), 0);
    assert_int_equal(catalog->nodes[0].n_samples, 2);
    assert_int_equal(catalog->nodes[0].samples[1], catalog_find_event(catalog, "A"));
    refused(catalog_builder_add_sample(builder, 0, "NOTHING", &error), &error,
            "sample_events of share names the event NOTHING");
    for (int i = 2; i < CATALOG_SAMPLES_MAX; i++)
        assert_int_equal(catalog_builder_add_sample(builder, 0, "A", &error), 0);
    refused(catalog_builder_add_sample(builder, 0, "A", &error), &error, "sample_events of share are more than 16");
    refused(catalog_builder_add_node(builder, "share", true, nowhere, 2, &error), &error,
            "leads from share to Nowhere");
    refused(catalog_builder_add_node(builder, "none", true, next, 2, &error), &error, "names the metric none");
    assert_int_equal(catalog->n_nodes, 1);
    catalog_builder_free(builder);
}

// ---- events ----

static void test_the_value_of_a_shared_register_is_the_terms(void **state) {
    (void)state;
    struct fault error;
    struct catalog_builder *builder = builder_for("cpu");
    const struct catalog *catalog = catalog_builder_catalog(builder);
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &error), 0);
    assert_int_equal(catalog_builder_add_format(builder, "offcore_rsp", "config1:0-63", &error), 0);
    assert_int_equal(catalog_builder_add_register(builder, "offcore_rsp", 2, &error), 0);
    refused(catalog_builder_add_register(builder, "ldlat", 1, &error), &error, "ldlat is no term of the format");
    const struct catalog_event_text one = {.name = "ONE", .terms = "event=0xb7,offcore_rsp=0x2011", .takes = 1};
    const struct catalog_event_text none = {.name = "NONE", .terms = "event=0xb7", .takes = 1};
    const struct catalog_event_text other = {
        .name = "OTHER", .terms = "event=7,offcore_rsp=0x2011", .takes = 1, .pmu = "msr"};
    assert_int_equal(catalog_builder_add_event_text(builder, &one, &error), 1);
    assert_int_equal(catalog_builder_add_event_text(builder, &none, &error), 2);
    assert_int_equal(catalog_builder_add_event_text(builder, &other, &error), 3);
    assert_int_equal(catalog->events[1].need.reg, 1);
    assert_int_equal(catalog->events[1].need.reg_value, 0x2011);
    assert_int_equal(catalog->events[1].code.config1, 0x2011);
    assert_int_equal(catalog->events[2].need.reg, 0);
    assert_int_equal(catalog->events[3].need.reg, 0); // not the core's register
    assert_true(catalog->events[3].need.free);
    assert_int_equal(catalog->events[3].code.config, 7);
    assert_string_equal(catalog->pmus[catalog->events[3].code.pmu], "msr");
    catalog_builder_free(builder);
}

static void test_events_of_other_pmus_are_encoded_where_their_format_is_known(void **state) {
    (void)state;
    struct fault error;
    struct fault format_error;
    struct event_format *host;
    bool cannot[5] = {0};
    const struct catalog_event_text texts[] = {
        {.name = "READS", .terms = "event=4,umask=0x101", .pmu = "box_memory", .takes = 1}, // umask: bit 0 and bit 8
        {.name = "LINKS", .terms = "event=4,umask=1", .pmu = "box_link", .takes = 1},
        {.name = "PORTS", .terms = "event=4,port=1", .pmu = "box_link", .takes = 1},
        {.name = "ALONE", .terms = "event=4", .pmu = "other", .takes = 1}};
    struct catalog_builder *builder = builder_for("cpu");
    const struct catalog *catalog = catalog_builder_catalog(builder);
    assert_int_equal(catalog_builder_add_pmu_format(builder, "box_link", "event", "config:8-15", &error), 0);
    assert_int_equal(catalog_builder_add_pmu_format(builder, "box_link", "umask", "config2:0-7", &error), 0);
    assert_int_equal(catalog_builder_add_pmu_format(builder, "box_*", "event", "config:0-7", &error), 0);
    assert_int_equal(catalog_builder_add_pmu_format(builder, "box_*", "umask", "config:8-15,32-39", &error), 0);
    refused(catalog_builder_add_pmu_format(builder, "box_*", "umask", "config:16-23", &error), &error,
            "umask is there twice");
    assert_true(catalog_builder_has_pmu_format(builder, "box_*") &&
                !catalog_builder_has_pmu_format(builder, "box_memory"));
    for (int i = 0; i < 4; i++)
        assert_int_equal(catalog_builder_add_event_text(builder, &texts[i], &error), 1 + i);
    const struct catalog_event *events = catalog->events;
    assert_null(events[1].uncoded);
    assert_int_equal(events[1].code.config, 0x100000104);
    assert_null(events[2].uncoded);
    assert_int_equal(events[2].code.config, 0x400);
    assert_int_equal(events[2].code.config2, 1);
    assert_string_equal(events[3].uncoded, "the PMU has no term \"port\"; it has event, umask");
    assert_string_equal(events[4].uncoded, "the format of the PMU other is not known without a host that has it");
    // a host that has the PMU
    assert_int_equal(event_format_new(&host), 0);
    assert_int_equal(event_format_add(host, "event", "config:16-23", &format_error), 0);
    assert_int_equal(catalog_builder_encode(builder, events[4].code.pmu, host, cannot), 0);
    assert_null(events[4].uncoded);
    assert_int_equal(events[4].code.config, 0x40000);
    event_format_free(host);
    catalog_builder_free(builder);
}

static void test_a_host_encodes_what_it_can_and_says_what_it_cannot(void **state) {
    (void)state;
    struct fault error;
    struct fault format_error;
    struct event_format *host;
    bool cannot[3] = {0};
    struct catalog_builder *builder = builder_for("cpu");
    const struct catalog *catalog = catalog_builder_catalog(builder);
    assert_int_equal(catalog_builder_add_format(builder, "event", "config:0-7", &error), 0);
    assert_int_equal(catalog_builder_add_format(builder, "any", "config:21", &error), 0);
    const struct catalog_event_text a = {.name = "A", .terms = "event=0x3c", .takes = 1};
    const struct catalog_event_text b = {.name = "B", .terms = "event=0x3c,any=1", .takes = 1};
    assert_int_equal(catalog_builder_add_event_text(builder, &a, &error), 1);
    assert_int_equal(catalog_builder_add_event_text(builder, &b, &error), 2);
    assert_int_equal(event_format_new(&host), 0);
    assert_int_equal(event_format_add(host, "event", "config:8-15", &format_error), 0);
    assert_int_equal(catalog_builder_encode(builder, 0, host, cannot), 0);
    assert_int_equal(catalog->events[1].code.config, 0x3c00);
    assert_int_equal(catalog->events[2].code.config, 0x20003c);
    assert_true(!cannot[1] && cannot[2]);
    event_format_free(host);
    catalog_builder_free(builder);
}

static void test_topdown_events_can_be_counted_on_the_core_pmu_and_stand_once(void **state) {
    (void)state;
    static const char *const twice[] = {"CYCLES", "A", "CYCLES"}, *const good[] = {"CYCLES", "A"};
    struct fault error;
    struct catalog_builder *builder = small();
    refused(catalog_builder_set_topdown(builder, twice, 3, &error), &error, "CYCLES stands twice");
    catalog_builder_free(builder);
    builder = small();
    const struct catalog_event_text sampled = {.name = "S", .terms = "config=1", .takes = 1, .sampling_only = true};
    const struct catalog_event_text other = {.name = "O", .terms = "event=1", .takes = 1, .pmu = "msr"};
    assert_int_equal(catalog_builder_add_event_text(builder, &sampled, &error), 5);
    assert_int_equal(catalog_builder_add_event_text(builder, &other, &error), 6);
    refused(catalog_builder_set_topdown(builder, (const char *const[]){"S"}, 1, &error), &error, "can only be sampled");
    refused(catalog_builder_set_topdown(builder, (const char *const[]){"O"}, 1, &error), &error, "is of the PMU msr");
    refused(catalog_builder_set_topdown(builder, (const char *const[]){"cpu_seconds"}, 1, &error), &error, "not among");
    assert_int_equal(catalog_builder_set_topdown(builder, good, 2, &error), 0);
    refused(catalog_builder_set_topdown(builder, good, 2, &error), &error, "already");
    catalog_builder_free(builder);
}

static void test_without_topdown_counters_a_catalog_has_the_other_level_1(void **state) {
    (void)state;
    struct fault error;
    struct catalog_builder *builder = led_builder();
    const struct catalog *catalog = catalog_builder_catalog(builder);
    metric_of(builder, "estimate", "100 * A / (A + B)", "percent of slots");
    metric_of(builder, "rest", "100 * B / (A + B)", "percent of slots");
    const struct catalog_level1_text text = {.pipeline_slots = "A + B", .width = 6};
    assert_int_equal(catalog_builder_set_level1(builder, LEVEL1_WITHOUT_TOPDOWN, &text, &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_WITHOUT_TOPDOWN, CATEGORY_RETIRING, "estimate", &error), 0);
    assert_int_equal(
        catalog_builder_set_category(builder, LEVEL1_WITHOUT_TOPDOWN, CATEGORY_BACKEND_BOUND, "rest", &error), 0);
    assert_int_equal(catalog_builder_check(builder, &error), 0);
    for (int i = 0; i < 2; i++) { // the second time nothing changes
        catalog_builder_drop_topdown(builder);
        assert_int_equal(catalog->n_topdown, 0);
        assert_false(catalog->events[R_SLOTS].topdown);
        assert_string_equal(catalog->level1.pipeline_slots_text, "A + B");
        assert_true(catalog->level1.width == 6);
    }
    catalog_builder_free(builder);
}

static void test_a_topdown_event_is_in_no_part_of_a_split(void **state) {
    (void)state;
    struct fault error;
    static const char *const parts[][2] = {{"SLOTS", "RET"}, {"SLOTS", "FE"}};
    struct catalog_builder *builder = led_builder();
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    refused(catalog_builder_check(builder, &error), &error, "names the event SLOTS, which is resident");
    catalog_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ratio_is_used_by_its_value_and_a_count_is_put_in_its_place),
        cmocka_unit_test(test_a_metric_comes_before_an_event_and_its_own_name_is_the_event),
        cmocka_unit_test(test_what_is_written_to_the_letter_comes_before_what_differs_in_case),
        cmocka_unit_test(test_a_modifier_makes_an_event_that_counts_less),
        cmocka_unit_test(test_time_and_core_wide_are_no_counts_so_there_is_nothing_to_sum),
        cmocka_unit_test(test_without_smt_a_cpu_is_a_core),
        cmocka_unit_test(test_what_needs_an_unmeasurable_metric_names_it),
        cmocka_unit_test(test_a_resolver_is_asked_a_bounded_depth),
        cmocka_unit_test(test_a_parent_is_a_metric_and_never_below_its_child),
        cmocka_unit_test(test_a_threshold_is_over_values_of_metrics),
        cmocka_unit_test(test_a_node_leads_to_metrics_and_groups_that_exist),
        cmocka_unit_test(test_the_value_of_a_shared_register_is_the_terms),
        cmocka_unit_test(test_events_of_other_pmus_are_encoded_where_their_format_is_known),
        cmocka_unit_test(test_a_host_encodes_what_it_can_and_says_what_it_cannot),
        cmocka_unit_test(test_topdown_events_can_be_counted_on_the_core_pmu_and_stand_once),
        cmocka_unit_test(test_without_topdown_counters_a_catalog_has_the_other_level_1),
        cmocka_unit_test(test_a_topdown_event_is_in_no_part_of_a_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
