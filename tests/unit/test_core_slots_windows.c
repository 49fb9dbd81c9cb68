// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/one_core.h"

#include "core/counts/core_slots.h"

// Windows of a core's threads: paired by their moment, joined before they are divided, contention apart.

// Two threads that are served in turn, all the time; each loses half of its slots.
static struct core_truth busy_core(void) {
    uint64_t random = 7;
    return any_core(&random, 6, IN_TURN, true);
}

static double contention_total(const struct machine *machine) {
    return machine->snapshot->values[snapshot_contention(machine->layout, 0)];
}

static double gauge_of(const struct machine *machine, const char *export_name) {
    const struct plan *plan = machine->layout->plan;
    for (size_t m = 0; m < plan->n_metrics; m++)
        if (strcmp(machine->catalog->metrics[plan->metrics[m].metric].export_name, export_name) == 0)
            return machine->snapshot->values[snapshot_metric(machine->layout, 0, m)];
    fail_msg("%s is not planned", export_name);
    return NAN;
}

static void test_what_siblings_take_from_one_another_is_counted_apart(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6};
    struct core_truth core = busy_core();
    machine_begin(&machine);
    measure(&machine, &core);
    double slots = 2 * 6 * FREQUENCY_HZ; // of the core, in two seconds
    const double *values = machine.snapshot->values;
    assert_true(fabs(values[snapshot_pipeline_slots(machine.layout, 0)] / slots - 1) < 1e-6);
    assert_true(fabs(contention_total(&machine) / slots - 1) < 1e-6); // each thread lost half of twice as many
    assert_true(fabs(gauge_of(&machine, "smt_contention_ratio") - 0.5) < 1e-6);
    assert_true(values[snapshot_deviation(machine.layout, 0)] < 1e-6);
    machine_end(&machine);
    catalog_free(machine.catalog);
}

// On four counters level 1 is counted in two parts. The core's slots are made of the joined ones.
static void test_a_composite_is_joined_before_it_is_divided(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 4};
    struct core_truth core = busy_core();
    machine_begin(&machine);
    assert_int_equal(machine.layout->plan->n_groups, 2);
    measure(&machine, &core);
    for (int c = 0; c < CATEGORY_SMT_CONTENTION; c++)
        assert_true(fabs(share_of(&machine, (enum category)c).value - true_share(&core, (enum category)c)) < 1e-6);
    machine_end(&machine);
    catalog_free(machine.catalog);
}

static void fail_last(struct machine *machine) {
    struct window *window = &machine->readings->windows[machine->readings->n_windows - 1];
    window->result = WINDOW_FAILED;
    window->error = -5;
    window->running_ns = 0;
}

static struct core_thread counted(const struct thread_truth *of) {
    return (struct core_thread){{6 * of->cycles, of->used, of->stalled_front, of->stalled_back}, of->contention};
}

// In each of three slots both CPUs count, except that one has no data in the second. Without its sibling's window a
// thread has the slots of its cycles except those that its sibling got; the windows after that are of one moment again.
static void test_windows_are_paired_by_their_moment(void **state) {
    (void)state;
    uint64_t random = 7;
    const struct core_truth core = any_core(&random, 6, ON_DEMAND, true);
    const struct core_thread threads[] = {counted(&core.threads[0]), counted(&core.threads[1])};
    struct core_share both[2], alone[2];
    core_slots_divide(threads, 2, &(struct core_clock){6 * FREQUENCY_HZ, 6 * FREQUENCY_HZ}, both);
    for (size_t i = 0; i < 2; i++)
        core_slots_divide(&threads[i], 1, &(struct core_clock){6 * FREQUENCY_HZ, 6 * FREQUENCY_HZ}, &alone[i]);
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6};
    for (unsigned failing = 0; failing < 2; failing++) {
        machine_begin(&machine);
        for (unsigned slot = 0; slot < 3; slot++)
            for (unsigned cpu = 0; cpu < 2; cpu++) {
                count_window(&machine, &core, cpu, 0);
                if (slot == 1 && cpu == failing)
                    fail_last(&machine);
            }
        end_round(&machine, 3);
        unsigned other = 1 - failing;
        double wanted[2]; // of the failing CPU's round two windows are known, of the other one's all three
        wanted[failing] = 3 * both[failing].slots[CORE_SLOTS_ALL];
        wanted[other] = 2 * both[other].slots[CORE_SLOTS_ALL] + alone[other].slots[CORE_SLOTS_ALL];
        for (size_t cpu = 0; cpu < 2; cpu++) {
            size_t place = snapshot_pipeline_slots(machine.layout, snapshot_scope_cpu(machine.layout, cpu));
            assert_true(fabs(machine.snapshot->values[place] / wanted[cpu] - 1) < 1e-6);
        }
        assert_true(fabs(alone[other].slots[CORE_SLOTS_ALL] / both[other].slots[CORE_SLOTS_ALL] - 1) > 0.01);
        machine_end(&machine);
    }
    catalog_free(machine.catalog);
}

// Threads that never run together never count contention. The PMU does not say which events it has.
static void test_no_contention_is_no_reason_to_doubt_level_1(void **state) {
    (void)state;
    struct machine machine = {.spec = "zen4", .catalog = load("zen4", false), .counters = 6, .unknown = true};
    struct core_truth core = {.width = 6, .cycles = 1e9};
    const struct ways ways[2] = {{0.5, 0.8, 0.5, 0.9}, {0.5, 0.8, 0.5, 0.9}};
    core.threads[0].cycles = core.threads[0].alone = 1e9;
    serve_alone(&core, ways, 0, 6e9);
    core.threads[0].retired = core.threads[0].used * 0.9;
    machine_begin(&machine);
    measure(&machine, &core);
    assert_true(fabs(share_of(&machine, CATEGORY_RETIRING).value - true_share(&core, CATEGORY_RETIRING)) < 1e-6);
    assert_true(contention_total(&machine) == 0);
    machine_end(&machine);
    core.threads[0].stalled_back = 0; // an event that is part of level 1 never counts, and the spec says that it must
    machine.catalog->events[catalog_find_event(machine.catalog, "de_no_dispatch_per_slot.backend_stalls")].must_count =
        true;
    machine_begin(&machine);
    measure(&machine, &core);
    assert_true(isnan(share_of(&machine, CATEGORY_RETIRING).value));
    assert_true(isnan(machine.snapshot->values[snapshot_pipeline_slots(machine.layout, 0)]));
    machine_end(&machine);
    catalog_free(machine.catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_siblings_take_from_one_another_is_counted_apart),
        cmocka_unit_test(test_a_composite_is_joined_before_it_is_divided),
        cmocka_unit_test(test_windows_are_paired_by_their_moment),
        cmocka_unit_test(test_no_contention_is_no_reason_to_doubt_level_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
