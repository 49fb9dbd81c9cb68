// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/plan_check.h"

#include "core/tally/readings.h"

// Two units: level 1 as a composite of two parts, and a metric of its own; two CPUs.
struct host {
    struct catalog *catalog;
    struct plan *plan;
    struct topology *topology;
};

static struct host host_new(void) {
    static const char *const parts[2][2] = {{"FIXED_CYCLES", "A"}, {"FIXED_CYCLES", "B"}};
    struct catalog_builder *builder = empty_builder();
    struct fault error;
    level1_of(builder, "4 * FIXED_CYCLES", "100 * A / (4 * FIXED_CYCLES)", "100 * B / (4 * FIXED_CYCLES)");
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(catalog_builder_add_part(builder, LEVEL1_USUAL, parts[i], 2, &error), 0);
    metric_of(builder, "c", "C / FIXED_CYCLES", NULL);
    group_of(builder, "All", "frontend_bound backend_bound c");
    struct host host = {.catalog = catalog_builder_finish(builder)};
    host.plan = plan_of_all(host.catalog, 1, 0.1);
    host.topology = build_cpus(0, 2, 1);
    return host;
}

static void host_free(struct host *host) {
    topology_free(host->topology);
    plan_free(host->plan);
    catalog_free(host->catalog);
}

// Adds a window of every entry of the round on every CPU, each count a number of its own.
static void fill(struct readings *readings, const struct plan *plan, size_t n_cpus) {
    uint64_t next = 1;
    for (unsigned cpu = 0; cpu < n_cpus; cpu++)
        for (size_t i = 0; i < plan->n_round; i++) {
            if (plan->round[i] == plan->n_units)
                continue;
            const struct plan_unit *unit = &plan->units[plan->round[i]];
            for (unsigned g = unit->first_group; g < unit->first_group + unit->n_groups; g++) {
                size_t n = plan->groups[g].n_events;
                struct window *window = readings_add(readings, cpu, g, n);
                assert_int_equal(window->cpu, cpu);
                assert_int_equal(window->group, g);
                for (size_t e = 0; e < n; e++) {
                    assert_int_equal(window->counts[e], 0);
                    window->counts[e] = next++;
                }
            }
        }
}

static void test_a_full_round_of_every_cpu_has_room(void **state) {
    (void)state;
    struct host host = host_new();
    assert_int_equal(host.plan->n_groups, 3);
    struct readings *readings = readings_new(host.plan, host.topology);
    assert_non_null(readings);
    for (uint64_t round = 0; round < 3; round++) {
        readings_begin(readings, round, 1000 + round);
        assert_int_equal(readings->round, round);
        assert_int_equal(readings->start_ns, 1000 + round);
        assert_int_equal(readings->end_ns, 1000 + round);
        assert_int_equal(readings->n_windows, 0);
        fill(readings, host.plan, 2);
        assert_int_equal(readings->n_windows, 2 * host.plan->n_windows);
        uint64_t next = 1; // no window writes over another's counts
        for (size_t w = 0; w < readings->n_windows; w++)
            for (size_t e = 0; e < host.plan->groups[readings->windows[w].group].n_events; e++)
                assert_int_equal(readings->windows[w].counts[e], next++);
    }
    assert_null(readings_free(readings));
    host_free(&host);
}

// Its round begins within the window of one round and ends within that of another, and may be of one group alone.
static void test_a_round_of_a_core_that_was_held_has_room(void **state) {
    (void)state;
    struct host host = host_new();
    struct readings *readings = readings_new(host.plan, host.topology);
    size_t largest = 0;
    for (size_t g = 0; g < host.plan->n_groups; g++)
        largest = host.plan->groups[g].n_events > host.plan->groups[largest].n_events ? g : largest;
    readings_begin(readings, 0, 0);
    for (unsigned cpu = 0; cpu < 2; cpu++)
        for (size_t i = 0; i < host.plan->n_windows + 1; i++)
            assert_non_null(readings_add(readings, cpu, (unsigned)largest, host.plan->groups[largest].n_events));
    assert_int_equal(readings->n_windows, readings->windows_max);
    assert_int_equal(readings->n_counts, readings->counts_max);
    readings_free(readings);
    host_free(&host);
}

static void test_a_new_window_knows_nothing_of_the_round_before(void **state) {
    (void)state;
    struct host host = host_new();
    struct readings *readings = readings_new(host.plan, host.topology);
    readings_begin(readings, 0, 0);
    struct window *window = readings_add(readings, 1, 2, 2);
    *window = (struct window){1, 2, WINDOW_FAILED, 10, 20, window->counts, -19, NULL};
    window->counts[0] = window->counts[1] = 99;
    readings_begin(readings, 1, 0);
    window = readings_add(readings, 0, 1, 2);
    assert_int_equal(window->result, WINDOW_COMPLETE);
    assert_int_equal(window->error, 0);
    assert_int_equal(window->enabled_ns + window->running_ns, 0);
    assert_int_equal(window->counts[0] + window->counts[1], 0);
    readings_free(readings);
    host_free(&host);
}

static void test_a_plan_without_units_has_readings_without_windows(void **state) {
    (void)state;
    struct host host = host_new();
    struct plan *plan = plan_of(host.catalog, 1, 0.1, NULL, 0);
    struct readings *readings = readings_new(plan, host.topology);
    assert_non_null(readings);
    readings_begin(readings, 5, 6);
    assert_int_equal(readings->windows_max, 0);
    readings_free(readings);
    assert_null(readings_free(NULL));
    plan_free(plan);
    host_free(&host);
}

static void test_every_window_result_has_a_name(void **state) {
    (void)state;
    static const char *const names[] = {"complete", "contended", "starved", "failed", "implausible"};
    assert_int_equal(N_OF(names), WINDOW_RESULT_N);
    for (size_t i = 0; i < N_OF(names); i++)
        assert_string_equal(window_result_name((enum window_result)i), names[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_full_round_of_every_cpu_has_room),
        cmocka_unit_test(test_a_round_of_a_core_that_was_held_has_room),
        cmocka_unit_test(test_a_new_window_knows_nothing_of_the_round_before),
        cmocka_unit_test(test_a_plan_without_units_has_readings_without_windows),
        cmocka_unit_test(test_every_window_result_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
