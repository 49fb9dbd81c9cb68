// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/led_catalog.h"

#include <errno.h>
#include <math.h>

#include "core/uncore/uncore.h"
#include "core/uncore/uncore_most.h"

// Kinds of PMUs outside the cores: which metric is which traffic, and boxes as a topology.

static const char *const EVENTS[] = {"RD", "WR"};
enum { RD = 1, WR }; // behind the cycles that every catalog has

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
    struct uncore_box boxes[] = {{.pmu = "uncore_imc_0", .place.package = 0},
                                 {.pmu = "uncore_imc_1", .place.package = 0},
                                 {.pmu = "uncore_imc_2", .cpu = 32, .place.package = 3},
                                 {.pmu = "uncore_imc_3", .cpu = 32, .place.package = 3}};
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

// A box that a CPU of such a package and cache reads; caches tell the boxes of its PMU apart.
static struct uncore_box box_of(const char *pmu, unsigned cpu, int package, int cache) {
    struct uncore_box box = {.cpu = cpu, .place = {package, 0, package, cache, 0}, .part = UNCORE_PART_CACHE};
    (void)snprintf(box.pmu, sizeof box.pmu, "%s", pmu);
    return box;
}

static struct uncore_boxes boxes_of(const struct uncore_box *boxes, size_t n) {
    struct uncore_boxes all = {calloc(n, sizeof *boxes), n};
    assert_non_null(all.boxes);
    memcpy(all.boxes, boxes, n * sizeof *boxes);
    return all;
}

static void test_a_box_keeps_its_number_when_others_come_and_go(void **state) {
    (void)state;
    struct uncore_box before[] = {box_of("uncore_imc_1", 0, 0, 0), box_of("uncore_imc_2", 0, 0, 0),
                                  box_of("uncore_imc_1", 8, 1, 1)};
    const struct uncore_box after[] = {box_of("uncore_imc_0", 0, 0, 0), box_of("uncore_imc_2", 3, 0, 0),
                                       box_of("uncore_imc_1", 9, 1, 1)};
    const struct uncore_boxes three = {before, N_OF(before)};
    struct uncore_boxes now = boxes_of(after, N_OF(after));
    struct topology *topology;
    now.boxes[0].left_out = true;
    now.boxes[1].type = 9;
    now.boxes[2].type = 8;
    assert_int_equal(uncore_boxes_continue(&now, &three), 0);
    assert_int_equal(now.n, 4);
    assert_true(now.boxes[0].gone);
    assert_int_equal(now.boxes[1].type, 9);
    assert_int_equal(now.boxes[1].cpu, 3);
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

static void test_boxes_of_one_pmu_in_one_socket_keep_their_own_numbers(void **state) {
    (void)state;
    struct uncore_box before[] = {box_of("amd_l3", 0, 0, 0), box_of("amd_l3", 4, 0, 1), box_of("amd_l3", 8, 0, 2)};
    const struct uncore_box after[] = {box_of("amd_l3", 1, 0, 0), box_of("amd_l3", 8, 0, 2),
                                       box_of("amd_l3", 12, 0, 3)};
    const struct uncore_boxes three = {before, N_OF(before)};
    struct uncore_boxes now = boxes_of(after, N_OF(after));
    assert_int_equal(uncore_boxes_continue(&now, &three), 0);
    static const struct {
        unsigned cpu;
        bool gone;
    } expected[] = {{1, false}, {4, true}, {8, false}, {12, false}};
    assert_int_equal(now.n, N_OF(expected));
    for (size_t i = 0; i < now.n; i++) {
        assert_int_equal(now.boxes[i].cpu, expected[i].cpu);
        assert_int_equal(now.boxes[i].gone, expected[i].gone);
    }
    uncore_boxes_deinit(&now);
}

static void test_a_pmu_that_gets_more_boxes_goes_on_with_the_one_that_its_cpu_reads(void **state) {
    (void)state;
    struct uncore_box before[] = {box_of("uncore_imc_0", 8, 1, 1)};
    const struct uncore_box after[] = {box_of("uncore_imc_0", 0, 0, 0), box_of("uncore_imc_0", 8, 1, 1)};
    const struct uncore_boxes one = {before, N_OF(before)};
    struct uncore_boxes now = boxes_of(after, N_OF(after));
    before[0].part = UNCORE_PART_HOST; // it was alone then
    assert_int_equal(uncore_boxes_continue(&now, &one), 0);
    assert_int_equal(now.n, 2);
    assert_int_equal(now.boxes[0].cpu, 8);
    assert_int_equal(now.boxes[1].cpu, 0);
    assert_false(now.boxes[0].gone || now.boxes[1].gone);
    uncore_boxes_deinit(&now);
}

static double most_of(const struct catalog *catalog, unsigned event, double peak, enum topology_peak from) {
    const struct topology_socket socket = {.memory_bytes_per_second = peak, .peak = from};
    return uncore_most(catalog, event, &socket);
}

static void test_a_box_moves_at_most_twice_the_peak_of_its_memory(void **state) {
    (void)state;
    struct catalog_builder *builder = builder_of(EVENTS, N_OF(EVENTS));
    const struct catalog *catalog = catalog_builder_catalog(builder);
    struct fault fault;
    metric_of(builder, "read", "64 * RD / cpu_seconds", NULL);
    metric_of(builder, "in", "4 * WR / cpu_seconds", NULL);
    assert_int_equal(catalog_builder_set_traffic(builder, 0, "memory_read", &fault), 0);
    assert_int_equal(catalog_builder_set_traffic(builder, 1, "io_in", &fault), 0);
    assert_true(most_of(catalog, RD, 320e9, TOPOLOGY_PEAK_HOST) == 10e9);        // 640 GB/s in counts of 64 bytes
    assert_true(most_of(catalog, RD, 320e9, TOPOLOGY_PEAK_CONFIGURED) == 250e9); // an opinion: 16 TB/s
    assert_true(most_of(catalog, RD, 320e9, TOPOLOGY_PEAK_FIRMWARE) == 250e9);   // and another
    assert_true(most_of(catalog, RD, 0, TOPOLOGY_PEAK_UNKNOWN) == 250e9);
    assert_true(most_of(catalog, WR, 320e9, TOPOLOGY_PEAK_HOST) == 4e12); // devices do not read from this memory alone
    catalog_builder_free(builder);
}

static void test_a_kilowatt_can_be_and_what_is_no_amount_has_no_limit(void **state) {
    (void)state;
    struct catalog_builder *builder = builder_of(EVENTS, N_OF(EVENTS));
    const struct catalog *catalog = catalog_builder_catalog(builder);
    const struct catalog_metric_text energy = {.name = "energy-pkg",
                                               .export_name = "event_energy_pkg",
                                               .title = "energy-pkg",
                                               .help = "",
                                               .units = "joules",
                                               .formula = "2.3283064365386962890625e-10 * RD / cpu_seconds"};
    struct fault fault;
    assert_true(catalog_builder_add_metric(builder, &energy, &fault) >= 0);
    metric_of(builder, "share", "RD / WR", NULL);
    assert_true(isinf(most_of(catalog, RD, 0, TOPOLOGY_PEAK_UNKNOWN))); // of a spec, whose units are free text
    catalog_builder_set_chosen(builder);
    assert_true(most_of(catalog, RD, 0, TOPOLOGY_PEAK_UNKNOWN) == 20e3 * 4294967296); // 2^32 counts a joule
    assert_true(isinf(most_of(catalog, WR, 0, TOPOLOGY_PEAK_UNKNOWN)));
    catalog_builder_free(builder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_metric_tells_a_traffic_if_its_numerator_is_bytes),
        cmocka_unit_test(test_a_name_of_traffic_is_found),
        cmocka_unit_test(test_a_box_keeps_its_number_when_others_come_and_go),
        cmocka_unit_test(test_boxes_of_one_pmu_in_one_socket_keep_their_own_numbers),
        cmocka_unit_test(test_a_pmu_that_gets_more_boxes_goes_on_with_the_one_that_its_cpu_reads),
        cmocka_unit_test(test_a_box_moves_at_most_twice_the_peak_of_its_memory),
        cmocka_unit_test(test_a_kilowatt_can_be_and_what_is_no_amount_has_no_limit),
        cmocka_unit_test(test_boxes_are_cores_of_the_sockets_whose_cpus_read_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
