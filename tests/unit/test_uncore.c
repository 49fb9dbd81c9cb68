// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/led_catalog.h"

#include <errno.h>

#include "core/uncore/uncore.h"

// Kinds of PMUs outside the cores: which metric is which traffic, and boxes as a topology.

static const char *const EVENTS[] = {"RD", "WR"};

static const char *refusal(struct catalog_builder *builder, unsigned metric, const char *traffic, struct fault *fault) {
    return catalog_builder_set_traffic(builder, metric, traffic, fault) == -EINVAL ? fault->text : "accepted";
}

static void test_a_metric_tells_a_traffic_if_its_numerator_is_bytes(void **state) {
    (void)state;
    struct catalog_builder *builder = builder_of(EVENTS, N_OF(EVENTS));
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault fault;
    double k;
    metric_of(builder, "read", "64 * RD / cpu_seconds", NULL);
    metric_of(builder, "write", "64 * WR / cpu_seconds", NULL);
    metric_of(builder, "share", "RD / WR", NULL);
    metric_of(builder, "rate", "64 * RD / duration_time", NULL);
    assert_int_equal(catalog->metrics[0].traffic, TRAFFIC_NONE);
    assert_int_equal(catalog_builder_set_traffic(builder, 0, "memory_read", &fault), 0);
    assert_int_equal(catalog->metrics[0].traffic, TRAFFIC_MEMORY_READ);
    assert_true(catalog_metric_ratio(&catalog->metrics[0], &k));
    const double counts[] = {2, 10, 0};
    assert_true(k * formula_sum_evaluate(&catalog->metrics[0].formula->numerator, counts) == 640);
    assert_non_null(strstr(refusal(builder, 1, "memory_red", &fault), "there is no traffic 'memory_red'"));
    assert_non_null(strstr(refusal(builder, 1, "memory_read", &fault), "metric read tells this traffic already"));
    assert_non_null(strstr(refusal(builder, 2, "memory_write", &fault), "is not bytes times events"));
    assert_non_null(strstr(refusal(builder, 3, "memory_write", &fault), "is not bytes times events"));
    catalog_builder_free(builder);
}

static void test_a_name_of_traffic_is_found(void **state) {
    (void)state;
    for (int i = TRAFFIC_NONE + 1; i < TRAFFIC_N; i++)
        assert_int_equal(traffic_find(traffic_table[i].name), i);
    assert_int_equal(traffic_find(""), TRAFFIC_NONE);
}

static void test_boxes_are_cores_of_the_sockets_whose_cpus_read_them(void **state) {
    (void)state;
    struct uncore_box boxes[] = {{.pmu = "uncore_imc_0", .package = 0},
                                 {.pmu = "uncore_imc_1", .package = 0},
                                 {.pmu = "uncore_imc_2", .cpu = 32, .package = 3},
                                 {.pmu = "uncore_imc_3", .cpu = 32, .package = 3}};
    const struct uncore_boxes none = {0}, four = {boxes, N_OF(boxes)};
    struct topology *topology;
    assert_int_equal(uncore_topology(&none, &topology), -EINVAL);
    assert_int_equal(uncore_topology(&four, &topology), 0);
    assert_true(topology->boxes);
    assert_int_equal(topology->n_cpus, 4);
    assert_int_equal(topology->n_cores, 4);
    assert_int_equal(topology->n_sockets, 2);
    assert_int_equal(topology->sockets[1].id, 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(topology->cpus[i].id, i);
        assert_int_equal(topology->cpus[i].socket, i / 2);
    }
    topology_free(topology);
}

static void test_a_box_keeps_its_number_when_others_come_and_go(void **state) {
    (void)state;
    struct uncore_box before[] = {{.pmu = "uncore_imc_1", .package = 0},
                                  {.pmu = "uncore_imc_2", .package = 0},
                                  {.pmu = "uncore_imc_1", .package = 1}};
    const struct uncore_boxes three = {before, N_OF(before)};
    struct uncore_boxes now = {calloc(3, sizeof *now.boxes), 3};
    struct topology *topology;
    assert_non_null(now.boxes);
    now.boxes[0] = (struct uncore_box){.pmu = "uncore_imc_0", .package = 0, .left_out = true};
    now.boxes[1] = (struct uncore_box){.pmu = "uncore_imc_2", .type = 9, .package = 0};
    now.boxes[2] = (struct uncore_box){.pmu = "uncore_imc_1", .type = 8, .package = 1};
    assert_int_equal(uncore_boxes_continue(&now, &three), 0);
    assert_int_equal(now.n, 4);
    assert_true(now.boxes[0].gone);
    assert_int_equal(now.boxes[1].type, 9);
    assert_int_equal(now.boxes[2].type, 8);
    assert_string_equal(now.boxes[3].pmu, "uncore_imc_0");
    assert_int_equal(uncore_topology(&now, &topology), 0);
    assert_int_equal(topology->n_cpus, 2);
    assert_int_equal(topology->cpus[0].id, 1);
    assert_int_equal(topology->cpus[1].id, 2);
    assert_int_equal(topology->sockets[0].excluded, 1);
    topology_free(topology);
    uncore_boxes_deinit(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_tells_a_traffic_if_its_numerator_is_bytes),
        cmocka_unit_test(test_a_name_of_traffic_is_found),
        cmocka_unit_test(test_a_box_keeps_its_number_when_others_come_and_go),
        cmocka_unit_test(test_boxes_are_cores_of_the_sockets_whose_cpus_read_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
